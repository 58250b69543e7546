"""Runs as the outputs meet them: with every verdict, hostile, cut short, empty, and one of good news."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.reports.baseline import Entry
from gateproof.reports.exchanges import Shown
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict

EVIL = (
    "</script><script>alert(1)</script> ]]> <!-- --> {0} {{x}} [click](https://evil.test) `tick` | @alice "
    "\x00\x0b\x1b[31m \u202erevo\u202c \u2028 \ufffe \ud800 &amp; \"quoted\" 'single' \\ ⟨proxy_token#1⟩"
)
LONG = "long " * 400
STARTED = "2026-11-21T10:00:00+00:00"


def exchange(step: str = "redeem", **changed: Any) -> Shown:
    values: dict[str, Any] = {
        "step": step,
        "method": "POST",
        "url": "https://127.0.0.1:8443/api/credentials/token?code=⟨code#1⟩&state=a%20b",
        "request_headers": (
            ("Authorization", "Bearer ⟨access_token#1⟩"),
            ("Content-Type", "application/json"),
        ),
        "request_body": '{"resource": "https://api.merchant.test"}',
        "status": 200,
        "answer_headers": (("content-type", "application/json"), ("location", "https://a.test/")),
        "answer_body": '{"access_token": "⟨merchant_access_token#1⟩"}',
        "at_s": 1000.5,
        "elapsed_s": 0.25,
    }
    return Shown(**{**values, **changed})


def check(name: str, verdict: Verdict, **more: Any) -> CheckResult:
    return CheckResult(
        **{"id": name, "rule": name.partition("/")[0], "verdict": verdict, "duration_s": 0.125, **more}
    )


def rule(rule_id: str, level: str, verdict: Verdict, *checks: CheckResult, **more: Any) -> RuleResult:
    return RuleResult(
        **{
            "id": rule_id,
            "level": level,
            "verdict": verdict,
            "title": f"What {rule_id} demands",
            "section": "Endpoints > Gateway endpoints > Credential redemption",
            "holds": "The answer is\n401.\n",
            "why": "A token of one Project would open another.\n",
            "checks": checks,
            **more,
        }
    )


def failing(name: str, **more: Any) -> CheckResult:
    return check(
        name,
        Verdict.FAILED,
        **{
            "message": "redeem: expected status 401, got 200",
            "expected": "status 401",
            "got": "200",
            "exchanges": (exchange("register", at_s=1000.0), exchange()),
            **more,
        },
    )


def mixed() -> RunResult:
    """A rule for every verdict, and failures that decide, that do not, and that are accepted."""
    nobody = exchange("sign-in", status=None, failure="connection reset", answer_headers=(), answer_body="")
    rules = (
        rule("DISC-01", "spec", Verdict.PASSED, check("DISC-01/a", Verdict.PASSED)),
        rule(
            "DISC-07",
            "silent",
            Verdict.OBSERVED,
            check("DISC-07/a", Verdict.OBSERVED, observations={"status of an unknown resource": 404}),
        ),
        rule(
            "REDEEM-05",
            "spec",
            Verdict.FAILED,
            failing("REDEEM-05/a"),
            check("REDEEM-05/b", Verdict.PASSED),
            reason="redeem: expected status 401, got 200",
        ),
        rule("REDEEM-06", "entailed", Verdict.FAILED, failing("REDEEM-06/a"), reason="redeem: no"),
        rule(
            "CODE-11",
            "rfc",
            Verdict.FAILED,
            failing("CODE-11/a"),
            reason="no-store is missing",
            standard="RFC 6749 section 5.1",
        ),
        rule(
            "CODE-02",
            "spec",
            Verdict.FAILED,
            failing("CODE-02/a"),
            reason="known",
            baselined="ticket 12, until the next release",
        ),
        rule(
            "VAULT-01",
            "spec",
            Verdict.ERROR,
            check("VAULT-01/a", Verdict.ERROR, message="control failed: 500", exchanges=(nobody,)),
            reason="control failed: 500",
        ),
        rule(
            "KEYS-04",
            "rfc",
            Verdict.NOT_TESTABLE,
            check("KEYS-04/a", Verdict.NOT_TESTABLE, message="control:rotate_keys is missing"),
            reason="control:rotate_keys is missing",
        ),
        rule("META-01", "spec", Verdict.NOT_APPLICABLE, reason="not for this role"),
        rule("AUTHZ-07", "spec", Verdict.NOT_TESTABLE, reason="no check exists for this rule yet"),
    )
    return RunResult(
        role="gateway",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason="2 deciding rules failed: REDEEM-05, REDEEM-06",
        rules=rules,
        target={
            "name": "acme-gateway",
            "version": "2.1.0",
            "base_url": "https://127.0.0.1:8443",
            "core_url": "https://127.0.0.1:8444",
        },
        run={
            "run_id": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
            "evidence_digest": "ab" * 32,
            "spec": {"identity": "agent authorization gateway", "version": "2026-10-19", "digest": "cd" * 32},
            "catalogue_digest": "ef" * 32,
            "harness_version": "0.1.0",
            "seed": 42,
            "selection": {"only": [], "skip": []},
            "workers": 2,
            "strict": False,
            "certify": False,
            "started": STARTED,
            "duration_s": 12.5,
            "complete": True,
            "cut_short": "",
            "command": "gateproof run --target 'targets/my gateway.toml' --seed 42",
        },
    )


def hostile() -> RunResult:
    """A target that writes into everything that it can reach."""
    evil = EVIL + LONG
    bad = exchange(
        EVIL,
        url=f"https://127.0.0.1/{EVIL}?{EVIL}",
        request_headers=((EVIL, evil),),
        answer_headers=((EVIL, evil), ("content-type", EVIL), ("location", EVIL)),
        request_body=evil,
        answer_body=evil,
    )
    carried = failing(
        "REDEEM-05/a",
        message=evil,
        expected=EVIL,
        got=evil,
        exchanges=(bad,),
        observations={EVIL: EVIL, "number": float("nan"), "list": [float("inf"), {"deep": EVIL}]},
    )
    usual = mixed()
    return replace(
        usual,
        reason=evil,
        target={"name": EVIL, "version": EVIL, "base_url": EVIL},
        rules=(
            rule("REDEEM-05", "spec", Verdict.FAILED, carried, reason=evil, baselined=""),
            rule(
                "DISC-07",
                "silent",
                Verdict.OBSERVED,
                check("DISC-07/a", Verdict.OBSERVED, observations={EVIL: evil}),
            ),
            rule("KEYS-04", "rfc", Verdict.NOT_TESTABLE, reason=evil),
            rule(
                "VAULT-01",
                "spec",
                Verdict.ERROR,
                check("VAULT-01/a", Verdict.ERROR, message=evil),
                reason=evil,
            ),
        ),
        run={**usual.run, "command": f"gateproof run --target '{EVIL.replace(chr(39), '')}'"},
    )


def interrupted() -> RunResult:
    """A run that was stopped before anything failed."""
    usual = mixed()
    return replace(
        usual,
        verdict=RunVerdict.NO_VERDICT,
        reason="interrupted",
        rules=tuple(
            rule(each.id, each.level, Verdict.NOT_TESTABLE, reason="not run: interrupted")
            if each.verdict is not Verdict.PASSED
            else each
            for each in usual.rules
        ),
        run={**usual.run, "complete": False, "cut_short": "interrupted", "evidence_digest": ""},
    )


def empty() -> RunResult:
    """A run that got nowhere, of which next to nothing is known."""
    return RunResult(
        role="service",
        verdict=RunVerdict.NO_VERDICT,
        reason="the target cannot be reached",
        rules=(),
        target={},
        run={"complete": False},
    )


def green() -> RunResult:
    """A run in which everything was tested and held."""
    usual = mixed()
    return replace(
        usual,
        verdict=RunVerdict.CONFORMANT,
        reason="1 deciding rule passed, none failed",
        rules=tuple(each for each in usual.rules if each.verdict is Verdict.PASSED),
        run={**usual.run, "command": "gateproof run --seed 42"},
    )


def strict() -> RunResult:
    """The mixed run, with the rules of the standards underneath deciding too."""
    usual = mixed()
    return replace(usual, run={**usual.run, "strict": True})


SAMPLES = {made.__name__: made for made in (mixed, hostile, interrupted, empty, green, strict)}

BROKEN = Path(__file__).resolve().parents[2] / "broken_gateway.py"
DEFECTS = "aud-as-a-string+tokens-may-be-cached+merchant-token-beside-the-agents+proxy-token-type-mac"
ASKED = [
    "DISC-01",
    "DISC-07",
    "REG-01",
    "CODE-11",
    "CLAIM-02",
    "KEYS-04",
    "PROXY-04",
    "PROXY-10",
    "SECRET-02",
]


def real(folder: Path) -> RunResult:
    """A run that took place, against a gateway that is wrong in so many ways that every verdict is in it.

    No rule of a gateway is left out by role or profile, so none can be not-applicable.
    """
    selected = rules.select(rules.load().for_role("gateway"), ASKED)
    known = Entry(rule="PROXY-10", reason="until the next release", expires="2999-01-01")
    options = RunOptions(seed=5, only=tuple(ASKED), baseline=(known,))
    program = (*WARM, str(BROKEN), DEFECTS)
    return carry_out(Embedded(program=program), selected, options, lambda _: None, folder)


@pytest.fixture(scope="session")
def runs() -> dict[str, RunResult]:
    """All of the runs that never took place by their names."""
    return {name: made() for name, made in SAMPLES.items()}


@pytest.fixture(params=sorted(SAMPLES))
def sample(request: pytest.FixtureRequest) -> RunResult:
    """Each of those runs in turn."""
    return SAMPLES[request.param]()


@pytest.fixture(scope="session")
def real_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the record of the real run is."""
    return tmp_path_factory.mktemp("real")


@pytest.fixture(scope="session")
def real_run(real_folder: Path) -> RunResult:
    """The run that took place."""
    return real(real_folder)
