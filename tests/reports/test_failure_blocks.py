"""What a user reads of a failure: the claim first, the exchange it is about, and a command that works."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from gateproof.reports.exchanges import Shown, curl
from gateproof.reports.terminal import Screen, failures, summary
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict


def exchange(step: str = "redemption", status: int | None = 200, **more: object) -> Shown:
    values = {"method": "POST", "url": "https://127.0.0.1:8443/api", "failure": "" if status else "reset"}
    return Shown(step=step, status=status, **{**values, **more})


def failed(
    *exchanges: Shown, what: str = "redemption", got: str = "status 502", **more: object
) -> CheckResult:
    values = {
        "id": "REDEEM-10/a",
        "rule": "REDEEM-10",
        "verdict": Verdict.FAILED,
        "message": f"{what}: expected status 404, got {got}",
        "expected": "status 404",
        "got": got,
        "exchanges": exchanges,
    }
    return CheckResult(**{**values, **more})


def block(*checks: CheckResult, own_ca: bool = True) -> str:
    rule = RuleResult(
        id="REDEEM-10", level="spec", title="T", section="Errors", verdict=Verdict.FAILED, checks=checks
    )
    result = RunResult(
        role="gateway",
        verdict=RunVerdict.NOT_CONFORMANT,
        reason="",
        rules=(rule,),
        target={"own_ca": own_ca},
        run={},
    )
    out = io.StringIO()
    failures(Screen(out=out, colour=False, live=False, width=100), result, again="gateproof run --seed 7")
    return out.getvalue()


@pytest.mark.parametrize(
    ("exchanges", "what", "got", "place"),
    [
        ([exchange(status=502), exchange("browser"), exchange()], "redemption", "status 502", 0),
        ([exchange(status=502), exchange(status=502), exchange()], "redemption", "status 502", 1),
        ([exchange(status=None), exchange()], "redemption", "reset", 0),
        ([exchange("a"), exchange("b"), exchange("c")], "b", "status 200 with JSON list", 1),
        ([exchange("a"), exchange("b"), exchange("c")], "aud", "['x']", 2),
        ([exchange("a", url="https://x.test/p?q"), exchange("b")], "page at https://x.test/p", "nothing", 0),
        ([exchange("a"), exchange("b"), exchange("c")], "3 answers", "a token in the body (b, as it is)", 1),
        ([exchange("a"), exchange("a"), exchange("c")], "3 answers", "a token in the body (a, as it is)", 2),
    ],
)
def test_exchange_that_a_claim_is_about_is_found(
    exchanges: list[Shown], what: str, got: str, place: int
) -> None:
    assert failed(*exchanges, what=what, got=got).decisive == place


def test_claim_stands_before_everything_else() -> None:
    lines = block(failed(exchange("registration", 201), exchange(status=502), exchange())).splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["✗", "expected", "got", "rule"]
    assert "    then     redemption: 502" in lines
    assert "    after    redemption 200" in lines


def test_question_about_the_target_file_is_told_apart() -> None:
    check = failed(
        exchange(status=502), message="redemption: expected status 404, got status 502; or is x wrong?"
    )
    assert "    perhaps  or is x wrong?" in block(check).splitlines()
    assert check.what == "redemption"


def test_steps_are_folded_and_the_earliest_give_way() -> None:
    many = [exchange(f"step {number}") for number in range(40)]
    said = block(failed(*many, exchange("poll", 404), exchange("poll", 404), exchange(status=502)))
    before = said.partition("before")[2].partition("then")[0]
    assert "31 steps left out" in before
    assert "poll 404 (2 times)" in before
    assert "step 5 " not in before


def test_other_checks_of_the_rule_are_told_in_short() -> None:
    said = block(
        failed(exchange(status=502)), failed(exchange(status=503), id="REDEEM-10/b", got="status 503")
    )
    assert said.count("curl") == 1
    assert said.count("expected redemption: status 404") == 2


def test_checks_that_found_the_same_are_one_finding() -> None:
    others = ("REDEEM-10/b", "REDEEM-10/c[x]", "REDEEM-10/c[y]")
    said = block(failed(exchange(status=502)), *(failed(exchange(status=502), id=each) for each in others))
    assert said.count("FAILED") == 1
    assert "    same in  3 more checks: b, c (2 cases)" in said.splitlines()


def test_claims_are_told_one_by_one() -> None:
    said = block(
        failed(exchange("code exchange"), observations={"claims": json.dumps({"exp": 3600, "aud": []})})
    )
    assert "    claims   exp: 3600\n             aud: []\n" in said


def test_long_pages_are_cut_on_a_terminal() -> None:
    said = block(failed(exchange(status=502, answer_body="\n".join(["line"] * 90 + ["x" * 2000]))))
    assert "more lines" in said
    assert len(said) < 2000


def test_step_of_a_browser_is_repeated_in_a_browser() -> None:
    asked = exchange(
        "browser", 302, method="GET", url="https://127.0.0.1:8443/res_1/oauth2/auth?state=⟨opaque~1⟩"
    )
    said = block(failed(asked, exchange("browser", 302), what="authorization", got="a code"))
    assert "in a browser" in said
    assert asked.url in said
    assert "curl" not in said


def test_command_names_the_ca_file_where_there_is_one() -> None:
    shown = exchange(request_headers=(("Authorization", "Bearer ⟨access_token#1⟩"),))
    assert '--cacert "${CA_FILE}"' in curl(shown, own_ca=True)
    assert '"Authorization: Bearer ${ACCESS_TOKEN_1}"' in curl(shown, own_ca=True)
    assert "--cacert" not in curl(shown, own_ca=False)
    assert "--cacert" not in curl(replace(shown, url="http://127.0.0.1:8443/"), own_ca=True)
    assert "--cacert" not in block(failed(exchange(status=502)), own_ca=False)


def test_target_that_asks_by_itself_is_launched_again_instead_of_its_request_being_sent() -> None:
    check = failed(
        exchange("a"),
        exchange("b"),
        exchange("c"),
        guilty=1,
        scenario="install 1: a run in which x",
        what="w",
    )
    said = block(check)
    assert "then     b: 200" in said
    assert "after    c 200" in said
    assert "by hand  launch it again: install 1: a run in which x" in said
    assert "gateproof run --seed 7 --only REDEEM-10" in said
    assert "curl" not in said


def test_failure_that_no_exchange_shows_names_the_steps_alone() -> None:
    said = block(failed(exchange("a"), exchange("b"), scenario="install 1: a run", what="output"))
    assert "steps    a 200, b 200" in said
    assert "then" not in said


def told(*rules: RuleResult, strict: bool = False) -> str:
    out = io.StringIO()
    result = RunResult(
        role="agent",
        verdict=RunVerdict.CONFORMANT,
        reason="1 deciding rule passed, none failed",
        rules=rules,
        target={},
        run={"strict": strict},
    )
    summary(Screen(out=out, colour=False, live=False, width=100), result)
    return out.getvalue()


def rule(rule_id: str, level: str, *checks: CheckResult, baselined: str = "") -> RuleResult:
    return RuleResult(
        id=rule_id,
        level=level,
        title="T",
        section="S",
        verdict=Verdict.FAILED,
        reason=checks[0].message,
        baselined=baselined,
        checks=checks,
    )


def test_rule_that_failed_beside_the_verdict_is_in_the_last_line() -> None:
    last = told(rule("AGENT-13", "rfc", failed()), rule("AGENT-16", "rfc", failed())).splitlines()[-1]
    assert last == "2 rfc rules failed: AGENT-13, AGENT-16; this decides with --strict"
    for rules, strict in (
        ([rule("AGENT-13", "rfc", failed(), baselined="known")], False),
        ([rule("AGENT-13", "rfc", failed())], True),
        ([rule("AGENT-12", "spec", failed())], False),
    ):
        assert "--strict" not in told(*rules, strict=strict)


def test_failures_that_are_not_listed_are_counted() -> None:
    assert "got status 502; and 2 more checks" in told(rule("AGENT-13", "rfc", failed(), failed(), failed()))
    assert "more" not in told(rule("AGENT-13", "rfc", failed()))
