"""What a check does becomes the right verdict, and its texts become safe to show."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateproof.conformance.run.drive.judge import judge
from gateproof.conformance.run.drive.wall_clock import WallClock
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.claims import (
    LeftOut,
    NeverFired,
    NoOverlap,
    NotApplicable,
    TimesUnclear,
    Unavailable,
    UsedUp,
    attach,
    count_fault,
    expect,
    observe,
    repeat_with,
    require,
    values_of_choice,
)
from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.conformance.targets.control import ControlFailed, Unsupported
from gateproof.conformance.wire.client import RateLimited, TargetSilent
from gateproof.conformance.wire.connections import Unsendable
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.redacted_view import mention
from gateproof.reports.verdicts import CheckResult, Reason, Verdict

FAULT = Fault(
    name="late", layer=Layer.MERCHANT, hop=Hop.GATEWAY_TO_MERCHANT, does="answers late", holds="no crash"
)
SECRET = "wJ8vQ2mZ0pXk4TgL7rNc1sYb"


BEFORE = Exchange(step="before", request=Request(method="GET", url="https://127.0.0.1:1/"))
GUILTY = Exchange(step="guilty", request=Request(method="GET", url="https://127.0.0.1:1/orders"))


def bench(*capabilities: str) -> GatewayBench:
    keyring = Keyring()
    keyring.secret("access_token", SECRET)
    context = SimpleNamespace(
        capabilities=frozenset(capabilities),
        missing={"users:2": "name a second user"},
        target=SimpleNamespace(file=None),
    )
    seen = [BEFORE, GUILTY]
    return cast(
        GatewayBench,
        SimpleNamespace(
            context=context,
            redactor=keyring.redactor,
            shown=lambda redactor, **_: tuple(mention(each, redactor) for each in seen),
            place_of=lambda exchange: seen.index(exchange) if exchange in seen else None,
            owns_steps=lambda: True,
            waited_s=lambda **_: {},
            scenario=lambda: f"a run in which {SECRET} is printed",
        ),
    )


def judged(run: Callable[[], None], *, rule: str = "DISC-01", needs: tuple[str, ...] = ()) -> CheckResult:
    check = Check(rule=rule, name="c", needs=needs, cases=())
    return judge(f"{rule}/c", check, run, bench())


def raising(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


def equal(got: object) -> Callable[[], None]:
    return lambda: expect.equal(got, "right", "value")


def test_kept_expectation_passes() -> None:
    assert judged(equal("right")).verdict is Verdict.PASSED


def test_broken_expectation_fails_and_says_what_was_expected_and_got() -> None:
    result = judged(equal("wrong"))
    assert (result.verdict, result.expected, result.got) == (Verdict.FAILED, "right", "wrong")
    assert result.message == "value: expected right, got wrong"


def test_broken_precondition_is_not_testable_and_blocks() -> None:
    result = judged(lambda: require.equal("a", "b", "value"))
    assert (result.verdict, result.blocking) == (Verdict.NOT_TESTABLE, True)
    assert "precondition" in result.message


EXCHANGE = Exchange(step="code exchange", request=GUILTY.request, failure="the connection was refused")


def test_failed_step_is_a_failure_of_its_own_rule() -> None:
    result = judged(lambda: require(EXCHANGE).status(200), rule="REDEEM-03")
    assert (result.verdict, result.reason, result.blocking, result.owner) == (
        *(Verdict.NOT_TESTABLE, Reason.STEP_FAILED),
        *(True, "CODE-01"),
    )
    assert result.message.endswith("; this is a failure of CODE-01")
    assert (result.expected, result.got) == ("status 200", "the connection was refused")


def test_failed_step_of_the_rule_itself_fails_the_check() -> None:
    result = judged(lambda: require(EXCHANGE).status(200), rule="CODE-01")
    assert (result.verdict, result.owner) == (Verdict.FAILED, "")


def test_step_that_was_named_has_the_rule_of_that_name() -> None:
    step = require.step_of("redemption after a rejected refresh")
    result = judged(lambda: step(EXCHANGE).status(410), rule="REDEEM-03")
    assert result.owner == "VAULT-03"


@pytest.mark.parametrize(
    "claim",
    [
        lambda: require(EXCHANGE).refused(),
        lambda: require(EXCHANGE).status(200, 404),
        lambda: require(GUILTY).status(200),
        lambda: require.that(False, "code exchange", expected="tokens", got="none"),
    ],
)
def test_other_preconditions_are_nobodys_failure(claim: Callable[[], object]) -> None:
    result = judged(lambda: claim() and None, rule="REDEEM-03")
    assert (result.reason, result.owner) == (Reason.PRECONDITION_BROKEN, "")


def test_step_is_nobodys_failure_where_the_target_may_choose_or_is_in_trouble() -> None:
    def odd() -> None:
        with values_of_choice():
            require(EXCHANGE).status(200)

    assert judged(odd, rule="REDEEM-03").owner == ""
    check = Check(rule="REDEEM-03", name="c", needs=("faults",), cases=())
    result = judge("REDEEM-03/c", check, lambda: require(EXCHANGE).status(200) and None, bench("faults"))
    assert (result.reason, result.owner) == (Reason.PRECONDITION_BROKEN, "")


def failing_over(example: object) -> Callable[[], None]:
    def run() -> None:
        repeat_with({"kind": "example", "value": example})
        expect.equal("wrong", "right", "value")

    return run


@pytest.mark.parametrize("example", [{"n": 2**70}, [-(2**64)], "", {"a": None}], ids=repr)
def test_example_that_failed_is_kept_as_it_was(example: object) -> None:
    result = judged(failing_over(example))
    assert (result.verdict, result.replay) == (Verdict.FAILED, {"kind": "example", "value": example})


@pytest.mark.parametrize("example", [{"token": SECRET}, "\ud800\udfff", b"bytes"], ids=ascii)
def test_example_that_may_not_be_kept_as_it_was_is_drawn_again(example: object) -> None:
    result = judged(failing_over(example))
    assert (result.verdict, result.replay) == (Verdict.FAILED, None)


@pytest.mark.parametrize("rule", ["DISC-01", "DISC-07"])
def test_check_that_claims_and_observes_nothing_is_an_error(rule: str) -> None:
    assert judged(lambda: None, rule=rule).verdict is Verdict.ERROR


def test_precondition_alone_shows_nothing() -> None:
    assert judged(lambda: require.equal("a", "a", "value")).verdict is Verdict.ERROR


def test_silent_rule_observes() -> None:
    result = judged(lambda: observe(status=404, kind="html"), rule="DISC-07")
    assert (result.verdict, result.observations) == (Verdict.OBSERVED, {"status": 404, "kind": "html"})


@pytest.mark.parametrize(
    ("error", "reason", "blocking"),
    [
        (LeftOut("refused there"), Reason.LEFT_OUT, False),
        (Unsendable(), Reason.LEFT_OUT, False),
        (NoOverlap("1 of 3 rounds"), Reason.NO_OVERLAP, False),
        (TimesUnclear("31.0 s by itself"), Reason.TIMES_UNCLEAR, False),
        (Unavailable("users:2", "one user"), Reason.NEED_MISSING, False),
        (Unavailable("resources:2", "one Resource"), Reason.NEED_MISSING, False),
        (Unsupported("rotate_keys"), Reason.CONTROL_UNSUPPORTED, False),
        (RateLimited("429"), Reason.RATE_LIMITED, True),
        (UsedUp("asked to wait, then refused"), Reason.RATE_LIMITED, True),
        (TargetSilent("3 requests"), Reason.TARGET_SILENT, True),
        (ControlFailed("describe", "status 500"), Reason.CONTROL_FAILED, True),
        (NeverFired(FAULT), Reason.NEVER_FIRED, True),
        (KeyError("x"), Reason.HARNESS_BROKE, True),
        (AssertionError("x"), Reason.HARNESS_BROKE, True),
    ],
)
def test_every_exception_has_its_meaning(error: Exception, reason: Reason, blocking: bool) -> None:
    """DISC-02 needs nothing: whatever a part of it needs leaves out that part alone."""
    result = judged(raising(error), rule="DISC-02")
    broke = reason in {Reason.CONTROL_FAILED, Reason.NEVER_FIRED, Reason.HARNESS_BROKE}
    expected = Verdict.ERROR if broke else Verdict.NOT_TESTABLE
    assert (result.verdict, result.reason, result.blocking) == (expected, reason, blocking)
    assert result.message


@pytest.mark.parametrize(("seconds", "way"), [(3600, "forward by 3600 s"), (-90, "back by 90 s")])
@pytest.mark.parametrize("run", [equal("right"), equal("wrong"), raising(LeftOut("refused there"))])
def test_what_was_seen_while_the_clock_was_set_shows_nothing(
    run: Callable[[], None], seconds: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time

    def set_clock() -> None:
        monkeypatch.setattr("time.time", lambda: now() + seconds)
        run()

    result = judged(set_clock)
    assert (result.verdict, result.reason) == (Verdict.ERROR, Reason.CLOCK_JUMPED)
    assert way in result.message


def test_clock_that_is_corrected_a_little_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time

    def correct() -> None:
        monkeypatch.setattr("time.time", lambda: now() - 0.5)
        expect.equal("right", "right", "value")

    assert judged(correct).verdict is Verdict.PASSED


def test_check_after_a_jump_begins_when_no_old_date_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now, slept = time.time, list[float]()
    judged(equal("right"))
    monkeypatch.setattr("time.sleep", slept.append)
    monkeypatch.setattr("time.time", lambda: now() + 3600)
    assert judged(equal("right")).verdict is Verdict.PASSED
    assert len(slept) == 1
    assert slept[0] > 1.0
    judged(equal("right"))
    assert len(slept) == 1


@pytest.fixture(autouse=True)
def clock_is_compared_from_now_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test did to the clock must not make these wait."""
    monkeypatch.setattr("gateproof.conformance.run.drive.judge._between_checks", WallClock())


@pytest.mark.parametrize(
    ("error", "rule"),
    [(Unsupported("rotate_keys"), "KEYS-04"), (Unavailable("project", "no Project"), "DISC-02")],
)
def test_need_of_the_rule_itself_blocks_the_rule(error: Exception, rule: str) -> None:
    assert judged(raising(error), rule=rule).blocking


def test_rule_of_another_kind_of_target_is_not_applicable() -> None:
    result = judged(raising(NotApplicable("no MCP tool")))
    assert (result.verdict, result.reason) == (Verdict.NOT_APPLICABLE, Reason.LEFT_OUT)
    assert result.message == "no MCP tool"


def test_unmet_need_of_a_check_leaves_it_out_without_running_it() -> None:
    result = judged(raising(AssertionError()), needs=("users:2",))
    assert (result.verdict, result.blocking) == (Verdict.NOT_TESTABLE, False)
    assert result.message == "name a second user"


def test_unmet_need_of_a_rule_blocks_it() -> None:
    result = judged(raising(AssertionError()), rule="REDEEM-05")
    assert (result.verdict, result.blocking) == (Verdict.NOT_TESTABLE, True)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_interruption_is_no_verdict(stop: type[BaseException]) -> None:
    with pytest.raises(stop):
        judged(raising(stop()))


@pytest.mark.parametrize(
    "run",
    [
        lambda: expect.equal(SECRET, "right", "value"),
        lambda: expect.that(False, f"value {SECRET}", expected=SECRET, got={"token": SECRET}),
        lambda: require.equal(SECRET, "right", "value"),
        raising(ValueError(SECRET)),
        raising(Unsupported(SECRET)),
        raising(ControlFailed("describe", SECRET)),
    ],
)
def test_no_text_of_a_result_holds_a_secret(run: Callable[[], None]) -> None:
    assert SECRET not in repr(judged(run))


def test_own_frames_of_a_harness_error_are_named() -> None:
    def run() -> None:
        Keyring().redactor().text(cast(Any, 3))

    result = judged(run)
    assert result.verdict is Verdict.ERROR
    assert "run/drive/judge.py" in result.message


def test_documents_beside_a_claim_are_kept_where_it_does_not_hold() -> None:
    def run(holds: bool) -> None:
        attach(claims={"sub": SECRET, "exp": 3600})
        expect.that(holds, "exp", expected="later", got=3600)

    failed, passed = (judged(partial(run, holds)) for holds in (False, True))
    assert passed.observations == {}
    assert json.loads(failed.observations["claims"])["exp"] == 3600
    assert SECRET not in str(failed)


def test_fault_that_fired_is_counted() -> None:
    def run() -> None:
        count_fault(FAULT, 2)
        count_fault(FAULT, 1)
        expect.equal("right", "right", "value")

    assert judged(run).faults == (
        {"name": "late", "layer": "merchant", "hop": "gateway to merchant", "fired": 3},
    )


def test_fault_that_never_fired_makes_an_error_of_what_held() -> None:
    def run() -> None:
        expect.equal("right", "right", "value")
        count_fault(FAULT, 0)

    assert judged(run).verdict is Verdict.ERROR


@pytest.mark.parametrize("got", ["right", "wrong"])
def test_what_repeats_a_failure_is_kept_with_it_and_redacted(got: str) -> None:
    def run() -> None:
        repeat_with({"kind": "history", "steps": [{"bearer": SECRET}]})
        expect.equal(got, "right", "value")

    replay = judged(run).replay
    assert (replay is None) is (got == "right")
    assert SECRET not in json.dumps(replay)


def test_claim_that_names_its_exchange_tells_its_place() -> None:
    def about(exchange: Exchange | None) -> CheckResult:
        return judged(lambda: expect.that(False, "w", expected="e", got="g", exchange=exchange))

    found = about(GUILTY)
    assert (found.guilty, found.decisive) == (1, 1)
    assert SECRET not in found.scenario
    assert found.scenario.startswith("a run in which")
    # What was sent by the target itself may be about no exchange, or about one that is not in the record.
    for exchange in (None, Exchange(step="x", request=GUILTY.request)):
        assert (about(exchange).guilty, about(exchange).decisive) == (None, None)


def test_check_that_passed_tells_no_scenario() -> None:
    assert judged(lambda: expect.that(True, "w", expected="e", got="g")).scenario == ""
