"""Runs that never took place, with everything in them that a page has to cope with."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gateproof.reports.exchanges import Shown
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict, run_verdict

ROOT = Path(__file__).resolve().parents[3]
BASE = "https://127.0.0.1:8443"
CORE = "https://127.0.0.1:8444"
# What a target may say to break out of the page, to steer it, or to mislead who reads it.
HOSTILE = (
    "</script><script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=\'owned\'">',
    "' onmouseover='document.title=\"owned\"' x='",
    "</style></pre></title></svg>--><!--<![CDATA[ ]]>",
    "javascript:alert(1) http://evil.example/?a=1&amp;b=&lt;i&gt;",
    "user\u202egpj.exe\u2066 zero\u200bwidth \x00\x07\x1b[31m\ufeff\u2028 \ud800 \U000e0041",
    "x" * 3000,
    "<" * 300,
)


def exchange(step: str, method: str, url: str, status: int | None = 200, **others: Any) -> Shown:
    told: dict[str, Any] = {
        "answer_headers": (("content-type", "application/json"), ("cache-control", "no-store")),
        "answer_body": '{\n  "error": "invalid_request"\n}'
        if status != 200
        else '{"access_token": "⟨a_token#1⟩"}',
        "elapsed_s": 0.012,
    }
    return Shown(step=step, method=method, url=url, status=status, **(told | others))


def redemption(status: int | None = 200, bearer: str = "access_token#1", **others: Any) -> Shown:
    told: dict[str, Any] = {
        "request_headers": (
            ("Authorization", f"Bearer ⟨{bearer}⟩"),
            ("X-Proxy-Token", "⟨proxy_token#1⟩"),
            ("Content-Type", "application/json"),
        ),
        "request_body": '{"resource": "https://api.merchant.example/v1"}',
    }
    return exchange("redemption", "POST", f"{BASE}/api/credentials/token", status, **(told | others))


def journey() -> tuple[Shown, ...]:
    """From registration to a redemption that should have been refused."""
    return (
        exchange("discovery", "GET", f"{BASE}/res_1/.well-known/openid-configuration"),
        exchange("registration", "POST", f"{BASE}/api/register", 201),
        exchange("browser", "GET", f"{BASE}/res_1/oauth2/auth?response_type=code&state=xyz", 302),
        exchange("browser", "GET", "https://127.0.0.1:9443/authorize?client_id=gateway-res_1"),
        exchange("browser", "POST", "https://127.0.0.1:9443/authorize", 302),
        exchange("browser", "GET", f"{BASE}/callback?code=⟨code#1⟩", 302),
        exchange("code exchange", "POST", f"{CORE}/oauth2/token"),
        exchange("Proxy token request", "POST", f"{CORE}/oauth2/token"),
        redemption(),
        redemption(bearer="id_token#1"),
    )


def failed_check(rule: str, name: str = "foreign_token_gets_401", **others: Any) -> CheckResult:
    told: dict[str, Any] = {
        "message": "status of the redemption: expected 401, got 200",
        "expected": "401",
        "got": "200",
        "exchanges": journey(),
        "duration_s": 0.21,
    }
    return CheckResult(id=f"{rule}/{name}", rule=rule, verdict=Verdict.FAILED, **(told | others))


def check(rule: str, name: str, verdict: Verdict, **others: Any) -> CheckResult:
    return CheckResult(id=f"{rule}/{name}", rule=rule, verdict=verdict, **({"duration_s": 0.031} | others))


def texts(rule_id: str) -> dict[str, Any]:
    """What the catalogue says of a rule."""
    return catalogue()[rule_id]


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((ROOT / "conformance" / "catalogue").glob("*.toml")):
        for rule_id, raw in tomllib.loads(path.read_text(encoding="utf-8")).items():
            kept = {key: " ".join(str(raw.get(key, "")).split()) for key in _KEPT}
            found[rule_id] = kept | {"roles": raw["roles"]}
    return found


_KEPT = ("level", "title", "section", "holds", "why", "standard")


def rule(rule_id: str, verdict: Verdict, *checks: CheckResult, reason: str = "", **others: Any) -> RuleResult:
    told = {key: value for key, value in texts(rule_id).items() if key != "roles"}
    return RuleResult(id=rule_id, verdict=verdict, checks=checks, reason=reason, **(told | others))


def run(*rules: RuleResult, name: str = "acme-gateway", **facts: Any) -> RunResult:
    told: dict[str, Any] = {
        "run_id": "0198f3a2",
        "evidence_digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "spec": {
            "identity": "Agent Authorization Gateway",
            "version": "2026-10-19",
            "digest": "60303ae22b998861",
        },
        "catalogue_digest": "fd61a03af4f77d870fc21e05e7e80678095c92d8",
        "harness_version": "0.1.0",
        "seed": 4242,
        "selection": {"only": [], "skip": []},
        "workers": 2,
        "strict": False,
        "certify": False,
        "started": "2026-10-20T08:15:30+00:00",
        "duration_s": 41.25,
        "command": "gateproof run gateway --target acme.toml --seed 4242",
        "complete": True,
    }
    told |= facts
    verdict, reason = run_verdict(rules, strict=told["strict"], certify=told["certify"])
    target = {"name": name, "version": "2.1.0", "base_url": BASE, "core_url": CORE}
    return RunResult(role="gateway", verdict=verdict, reason=reason, rules=rules, target=target, run=told)


def every_verdict() -> RunResult:
    """A broken gateway: all verdicts, a failure that does not decide, an error, parts left out."""
    no_clock = "needs a control action that moves the target's clock"
    broke = "the harness broke: ValueError at checks/gateway/claim.py:41"
    return run(
        rule("DISC-01", Verdict.PASSED, check("DISC-01", "document_is_json", Verdict.PASSED)),
        rule(
            "DISC-02",
            Verdict.PASSED,
            check("DISC-02", "issuer_is_there", Verdict.PASSED),
            check(
                "DISC-02", "all_share_it", Verdict.NOT_TESTABLE, message="needs two Resources", blocking=False
            ),
        ),
        rule(
            "DISC-07",
            Verdict.OBSERVED,
            check(
                "DISC-07",
                "what_else_discovery_answers",
                Verdict.OBSERVED,
                observations={
                    "unknown_resource_status": 404,
                    "further_fields": "scopes_supported",
                    "list": [1, None],
                },
            ),
        ),
        rule(
            "CODE-03", Verdict.NOT_TESTABLE, check("CODE-03", "late", Verdict.NOT_TESTABLE), reason=no_clock
        ),
        rule("CODE-12", Verdict.NOT_TESTABLE, reason="no check exists for this rule yet"),
        rule("PROXY-07", Verdict.NOT_TESTABLE, reason=no_clock),
        rule(
            "CODE-11",
            Verdict.FAILED,
            failed_check(
                "CODE-11",
                "answers_are_not_stored",
                message="Cache-Control of the code exchange: expected no-store, got nothing",
                expected="no-store",
                got="nothing",
                exchanges=journey()[6:7],
            ),
            reason="Cache-Control of the code exchange: expected no-store, got nothing",
        ),
        rule(
            "CLAIM-05",
            Verdict.ERROR,
            check("CLAIM-05", "acr_ends_in_al2", Verdict.ERROR, message=broke, exchanges=journey()[:1]),
            reason=broke,
        ),
        rule(
            "REDEEM-03",
            Verdict.FAILED,
            failed_check(
                "REDEEM-03",
                "no_authorization_gets_400",
                expected="400",
                got="no answer within 30 s",
                message="redemption without Authorization: expected 400, got no answer within 30 s",
                exchanges=(redemption(None, failure="no answer within 30 s", retries=2),),
            ),
            reason="redemption without Authorization: expected 400, got no answer within 30 s",
        ),
        rule(
            "REDEEM-07",
            Verdict.FAILED,
            failed_check("REDEEM-07", "id_token_gets_401"),
            failed_check("REDEEM-07", "old_id_token_gets_401[expired]", exchanges=journey()[-2:]),
            check("REDEEM-07", "access_token_redeems", Verdict.PASSED),
            reason="status of the redemption: expected 401, got 200",
        ),
        rule(
            "REDEEM-09",
            Verdict.FAILED,
            failed_check("REDEEM-09", "trailing_slash_gets_404", expected="404", exchanges=journey()[-1:]),
            reason="status of the redemption: expected 404, got 200",
            baselined="fixed with release 2.2",
        ),
        rule("META-01", Verdict.NOT_APPLICABLE, reason="is about an operator's service"),
        baseline=[{"rule": "REDEEM-09", "reason": "fixed with release 2.2", "expires": "2026-12-31"}],
    )


def clean() -> RunResult:
    return run(
        *(rule(f"DISC-0{n}", Verdict.PASSED, check(f"DISC-0{n}", "holds", Verdict.PASSED)) for n in (1, 2, 3))
    )


def struck(name: str, fired: int, layer: str = "bytes", hop: str = "gateway to merchant") -> dict[str, Any]:
    return {"name": name, "layer": layer, "hop": hop, "fired": fired}


def under_faults() -> RunResult:
    """One fault held, one did not, one struck under two rules, and one never did."""
    slow = struck("slow body", 8, "client", "agent to gateway")
    half = struck("half request", 1, "client", "agent to gateway")
    cut, lost, idle = struck("answer cut off", 2), struck("answer lost", 1), struck("drip <b>", 0)
    never = "the fault drip <b> never fired between gateway to merchant"
    return run(
        rule("DISC-01", Verdict.PASSED, check("DISC-01", "document_is_json", Verdict.PASSED)),
        rule(
            "VAULT-06",
            Verdict.FAILED,
            check("VAULT-06", "held", Verdict.PASSED, faults=(cut,)),
            failed_check("VAULT-06", "gave_up", faults=(lost, cut)),
            reason="status of the redemption: expected 503, got 410",
        ),
        rule(
            "VAULT-10",
            Verdict.ERROR,
            check("VAULT-10", "idle", Verdict.ERROR, message=never, faults=(idle,)),
            reason=never,
        ),
        rule("ROBUST-02", Verdict.PASSED, check("ROBUST-02", "again", Verdict.PASSED, faults=(slow, half))),
        rule("ROBUST-03", Verdict.PASSED, check("ROBUST-03", "beside", Verdict.PASSED, faults=(slow,))),
    )


def hostile() -> RunResult:
    """Every text that a target has a hand in is hostile."""
    rules = []
    for number, words in enumerate(HOSTILE):
        rule_id = f"REDEEM-0{number + 1}"
        shown = Shown(
            step="redemption",
            method=words[:9],
            url=f"{BASE}/api/{words}",
            request_headers=((words[:60], words),),
            request_body=words,
            status=200,
            answer_headers=((words[:60], words),),
            answer_body=words,
            failure=words,
        )
        stranger = replace(shown, step=words[:50], url=f"https://{words[:30]}/x", status=None)
        rules.append(
            rule(
                rule_id,
                Verdict.FAILED,
                failed_check(
                    rule_id, words[:40], message=words, expected=words, got=words, exchanges=(stranger, shown)
                ),
                check(
                    rule_id,
                    "passed",
                    Verdict.PASSED,
                    message=words,
                    observations={words[:40]: words, "b": [words]},
                ),
                reason=words,
            )
        )
        rules.append(
            rule(f"DISC-0{number + 1}", Verdict.NOT_TESTABLE, reason=words)
            if number < 7
            else rule("KEYS-01", Verdict.ERROR, reason=words)
        )
    return run(*rules, name=HOSTILE[0])


def full(*, failing: int = 0, body: str = "") -> RunResult:
    """As many rules and checks as a whole run has, the first of them failing."""
    rules, checks = [], 0
    for number, rule_id in enumerate(sorted(catalogue())):
        names = [f"one_of_the_checks_of_this_rule[case-{case}]" for case in range(4 if number % 2 else 3)]
        checks += len(names)
        if number < failing:
            exchanges = tuple(
                replace(shown, answer_body=body or shown.answer_body, request_body=body or shown.request_body)
                for shown in journey()
            )
            said = {"exchanges": exchanges} | ({"got": body, "message": body} if body else {})
            found = [failed_check(rule_id, name, **said) for name in names]
            rules.append(rule(rule_id, Verdict.FAILED, *found, reason=found[0].message))
        elif number % 6 == 5:
            found = [check(rule_id, name, Verdict.NOT_TESTABLE, message="needs two users") for name in names]
            rules.append(rule(rule_id, Verdict.NOT_TESTABLE, *found, reason="needs two users"))
        else:
            silent = texts(rule_id)["level"] == "silent"
            verdict = Verdict.OBSERVED if silent else Verdict.PASSED
            seen = {"status": 404, "fields": "error, error_description"} if silent else {}
            found = [check(rule_id, name, verdict, observations=seen) for name in names]
            rules.append(rule(rule_id, verdict, *found))
    assert checks > 580
    return run(*rules)


def interrupted() -> RunResult:
    not_run = "not run: interrupted"
    told = run(
        rule("DISC-01", Verdict.PASSED, check("DISC-01", "document_is_json", Verdict.PASSED)),
        rule("DISC-03", Verdict.NOT_TESTABLE, check("DISC-03", "x", Verdict.NOT_TESTABLE), reason=not_run),
        complete=False,
    )
    return replace(told, verdict=RunVerdict.NO_VERDICT, reason="interrupted")


def nothing_known() -> RunResult:
    """A run that says of itself and of its target nothing at all."""
    return RunResult(
        role="gateway",
        verdict=RunVerdict.NO_VERDICT,
        reason="no deciding rule was tested",
        rules=(),
        target={},
        run={},
    )


RUNS: dict[str, Callable[[], RunResult]] = {
    "every-verdict": every_verdict,
    "clean": clean,
    "under-faults": under_faults,
    "hostile": hostile,
    "interrupted": interrupted,
    "nothing-known": nothing_known,
    "full": lambda: full(failing=5),
}


@pytest.fixture(params=RUNS)
def any_run(request: pytest.FixtureRequest) -> RunResult:
    return RUNS[request.param]()


@pytest.fixture
def runs() -> dict[str, Callable[..., RunResult]]:
    """The runs by name, and those that take arguments."""
    return {
        **RUNS,
        "named": lambda name: run(rule("DISC-01", Verdict.PASSED), name=name),
        "failing": lambda failing, body="": full(failing=failing, body=body),
    }


@pytest.fixture
def hostile_words() -> tuple[str, ...]:
    return HOSTILE
