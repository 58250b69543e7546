"""A known failure is accepted until its day, and an entry that is out of order fails the run."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import date
from typing import Any

import pytest

from gateproof.reports.baseline import BaselineError, Entry, apply, file_of, parse
from gateproof.reports.verdicts import CheckResult, RuleResult, RunVerdict, Verdict

KNOWN = {
    "REDEEM-05": ["REDEEM-05/foreign[1]", "REDEEM-05/foreign[2]", "REDEEM-05/as_a_step"],
    "REDEEM-06": ["REDEEM-06/revoked"],
    "DISC-01": ["DISC-01/found"],
}
TODAY = date(2026, 11, 21)
GOOD = '[[baseline]]\nrule = "REDEEM-05"\nreason = "known\\n since March"\nexpires = 2027-01-31\n'


def test_file_is_read() -> None:
    assert parse(GOOD.encode(), "b.toml", KNOWN) == (
        Entry(rule="REDEEM-05", reason="known since March", expires="2027-01-31"),
    )
    assert parse(b"", "b.toml", KNOWN) == ()
    assert parse(b"\xef\xbb\xbf" + GOOD.encode(), "b.toml", KNOWN)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[baseline]\n", "baseline: found a table; expected [[baseline]] tables"),
        ("baseline = 1\n", "baseline: found something else; expected [[baseline]] tables"),
        ("[[baselines]]\n", "unknown key 'baselines'; expected [[baseline]] tables only"),
        ("[[baseline]\n", "found Expected ']]' at the end of an array declaration"),
        (GOOD + "expire = 1\n", "[[baseline]] number 1: unknown key 'expire'; did you mean 'expires'?"),
        (
            GOOD + "who = 1\n",
            "[[baseline]] number 1: unknown key 'who'; expected one of rule, reason, expires, check",
        ),
        (GOOD + GOOD, "[[baseline]] number 2: found REDEEM-05 again; expected it once"),
        (
            GOOD.replace("REDEEM-05", "redeem-5"),
            "[[baseline]] number 1: rule: found 'redeem-5', which is no rule; did you mean 'REDEEM-05'?",
        ),
        (GOOD.replace("REDEEM-05", "?"), "rule: found '?', which is no rule; expected the ID of a rule"),
        (GOOD.replace('"REDEEM-05"', "[]"), "rule: found an array; expected the ID of a rule"),
        (
            GOOD.replace("2027-01-31", '"2027-01-31"'),
            "expires: found a string; expected a date without quotes",
        ),
        (
            GOOD.replace("2027-01-31", "2027-01-31T00:00:00Z"),
            "expires: found a date with a time; expected a date",
        ),
        (GOOD.replace("expires = 2027-01-31", ""), "expires: found nothing; expected a date without quotes"),
        (GOOD + "check = 1\n", "check: found something else; expected a pattern of check IDs"),
        (
            GOOD + 'check = "REDEEM-05/foreign[3]"\n',
            "check: found 'REDEEM-05/foreign[3]', which is no check of REDEEM-05; did you mean",
        ),
        (GOOD.replace('reason = "known\\n since March"', 'reason = " "'), "reason: found an empty string"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(BaselineError) as problem:
        parse(text.encode(), "b.toml", KNOWN)
    assert str(problem.value).startswith("b.toml: ")
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)


def test_file_that_is_no_text_says_so() -> None:
    with pytest.raises(BaselineError, match=r"b\.toml: .*expected TOML"):
        parse(b"\xff\xfe", "b.toml", KNOWN)


def rule(verdict: Verdict, rule_id: str = "REDEEM-05") -> RuleResult:
    return RuleResult(id=rule_id, level="spec", title="t", section="s", verdict=verdict)


ENTRY = Entry(rule="REDEEM-05", reason="known", expires="2026-11-21")


def test_listed_failure_is_marked_and_stays_failed() -> None:
    (found, other), faults = apply([rule(Verdict.FAILED), rule(Verdict.FAILED, "DISC-01")], [ENTRY], TODAY)
    assert (found.verdict, found.baselined) == (Verdict.FAILED, "known")
    assert (other.verdict, other.baselined) == (Verdict.FAILED, "")
    assert faults == ()


@pytest.mark.parametrize("verdict", [Verdict.PASSED, Verdict.OBSERVED, Verdict.NOT_APPLICABLE])
def test_entry_whose_rule_no_longer_fails_is_stale(verdict: Verdict) -> None:
    (found,), faults = apply([rule(verdict)], [ENTRY], TODAY)
    assert found.baselined == ""
    assert faults == ("the baseline lists REDEEM-05, which no longer fails",)


@pytest.mark.parametrize("verdict", [Verdict.NOT_TESTABLE, Verdict.ERROR])
def test_entry_of_which_nothing_is_known_is_not_stale(verdict: Verdict) -> None:
    assert apply([rule(verdict)], [ENTRY], TODAY)[1] == ()
    assert apply([], [ENTRY], TODAY)[1] == ()


def test_entry_past_its_date_covers_nothing_and_is_named_even_if_its_rule_did_not_run() -> None:
    late = replace(ENTRY, expires="2026-11-20")
    (found,), faults = apply([rule(Verdict.FAILED)], [late], TODAY)
    assert found.baselined == ""
    assert faults == ("the baseline's entry for REDEEM-05 expired on 2026-11-20",)
    assert apply([], [late], TODAY)[1] == faults


def failing(*verdicts: Verdict) -> RuleResult:
    """The rule with foreign[1], foreign[2] … in these verdicts."""
    checks = tuple(
        CheckResult(id=f"REDEEM-05/foreign[{number}]", rule="REDEEM-05", verdict=verdict)
        for number, verdict in enumerate(verdicts, start=1)
    )
    return replace(rule(Verdict.FAILED if Verdict.FAILED in verdicts else Verdict.PASSED), checks=checks)


def of_one(number: str, reason: str = "known") -> Entry:
    return replace(ENTRY, check=f"REDEEM-05/foreign[{number}]", reason=reason)


def test_entry_for_one_check_hides_no_other() -> None:
    both = failing(Verdict.FAILED, Verdict.FAILED)

    assert apply([both], [of_one("1")], TODAY)[0][0].baselined == ""
    assert apply([both], [of_one("1"), of_one("2", "other")], TODAY)[0][0].baselined == "known; other"
    assert apply([both], [of_one("?")], TODAY)[0][0].baselined == "known"
    assert apply([failing(Verdict.FAILED, Verdict.PASSED)], [of_one("1")], TODAY)[0][0].baselined == "known"


def test_entry_is_stale_when_its_check_passes_though_another_fails() -> None:
    found, faults = apply([failing(Verdict.PASSED, Verdict.FAILED)], [of_one("1"), of_one("2")], TODAY)

    assert faults == ("the baseline lists REDEEM-05 (REDEEM-05/foreign[1]), which no longer fails",)
    assert found[0].baselined == "known"


def test_entry_is_not_stale_when_its_check_was_not_tested() -> None:
    assert apply([failing(Verdict.NOT_TESTABLE, Verdict.PASSED)], [of_one("1")], TODAY)[1] == ()


def test_failed_step_that_failed_no_more_is_stale() -> None:
    entry = replace(ENTRY, check="REDEEM-05/as_a_step")

    assert apply([failing(Verdict.PASSED)], [entry], TODAY)[1] != ()


@pytest.mark.parametrize(
    ("entry", "verdict", "exit_code", "said"),
    [
        (None, RunVerdict.NOT_CONFORMANT, 1, "1 deciding rule failed: REDEEM-05"),
        (("REDEEM-05", "2027-01-01"), RunVerdict.CONFORMANT, 0, "1 that the baseline lists: REDEEM-05"),
        (("REDEEM-05", "2026-11-20"), RunVerdict.NOT_CONFORMANT, 1, "REDEEM-05 expired on 2026-11-20"),
        (("DISC-01", "2027-01-01"), RunVerdict.NOT_CONFORMANT, 1, "lists DISC-01, which no longer fails"),
    ],
)
def test_run_is_judged_with_its_baseline(
    kit: Any, entry: Any, verdict: RunVerdict, exit_code: int, said: str
) -> None:
    entries = (kit.entry(rule=entry[0], reason="known", expires=entry[1]),) if entry else ()
    checks = [check for check in kit.checks() if check.verdict is not Verdict.ERROR]
    planned = [rule for rule in kit.plan() if rule.id != "CHAL-01"]
    bundle = kit.bundle(checks=checks, planned=tuple(planned), baseline=entries)
    result = bundle.verify().result
    assert bundle.first() == ""
    assert (result.verdict, result.verdict.exit_code) == (verdict, exit_code)
    assert said in result.reason


def test_the_day_that_counts_is_the_day_of_the_run(kit: Any) -> None:
    """A record is judged the same whenever it is read."""
    entry = kit.entry(rule="REDEEM-05", reason="known", expires="2001-02-03")
    result = kit.result(baseline=(entry,), started="2001-02-03T23:59:59+00:00")
    assert result.rules[1].baselined == "known"


def test_file_of_a_run_accepts_its_failures_and_no_others(kit: Any) -> None:
    """Also one whose ID has the marks of a pattern, which then covers itself."""
    text = file_of(kit.result(), 'until "the next" release', date(2999, 1, 1))
    (entry,) = parse(text.encode(), "b.toml", {"REDEEM-05": ["REDEEM-05/broken"]})
    assert entry == Entry(
        rule="REDEEM-05",
        check="REDEEM-05/broken",
        reason='until "the next" release',
        expires="2999-01-01",
    )
    again = kit.result(baseline=(kit.entry(**asdict(entry)),))
    assert {rule.id: rule.baselined for rule in again.rules if rule.baselined} == {"REDEEM-05": entry.reason}
