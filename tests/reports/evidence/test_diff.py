"""What changed from one run to another is told, worst first, and unlike runs are not compared unasked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gateproof.reports.diff import Incomparable, diff, to_json, to_text
from gateproof.reports.header import Spec
from gateproof.reports.verdicts import RunResult, Verdict

PASSED, FAILED, ERROR = Verdict.PASSED, Verdict.FAILED, Verdict.ERROR
UNTESTED, OBSERVED = Verdict.NOT_TESTABLE, Verdict.OBSERVED
LISTS = ("regressed", "fixed", "new", "gone", "became_untested", "became_tested", "otherwise")


def run(kit: Any, verdict: Verdict | None, **changes: Any) -> RunResult:
    """A run of one rule, or of another one."""
    rule = "REDEEM-05" if verdict is not None else "DISC-01"
    check = replace(kit.checks()[0], id=f"{rule}/c", rule=rule, verdict=verdict or PASSED, message="why")
    check = replace(check, reason=replace(check, reason="").reason)
    planned = kit.plan(((rule, "spec", ("c",)),))
    found: RunResult = kit.result(f"{verdict}", planned=planned, checks=[check], **changes)
    return found


@pytest.mark.parametrize(
    ("before", "after", "name", "worse"),
    [
        (PASSED, FAILED, "regressed", True),
        (UNTESTED, FAILED, "regressed", True),
        (ERROR, FAILED, "regressed", True),
        (FAILED, PASSED, "fixed", False),
        (PASSED, UNTESTED, "became_untested", True),
        (FAILED, UNTESTED, "became_untested", True),
        (PASSED, ERROR, "became_untested", True),
        (UNTESTED, PASSED, "became_tested", False),
        (ERROR, PASSED, "became_tested", False),
        (ERROR, UNTESTED, "otherwise", False),
        (None, PASSED, "new", True),
        (PASSED, None, "gone", True),
    ],
)
def test_every_change_is_in_one_list(
    kit: Any, before: Verdict | None, after: Verdict | None, name: str, worse: bool
) -> None:
    found = diff(run(kit, before), run(kit, after))
    rules = {which: [change.rule for change in getattr(found, which)] for which in LISTS}
    assert len(rules.pop(name)) == 1
    # These two runs have one rule each: where it is not the same one, the other's is gone or new.
    other = {"new": "gone", "gone": "new"}.get(name, name)
    assert not any(changed for which, changed in rules.items() if which != other)
    assert found.worse is worse


@pytest.mark.parametrize("verdict", [PASSED, FAILED, UNTESTED, ERROR])
def test_nothing_changed_is_said_so(kit: Any, verdict: Verdict) -> None:
    found = diff(run(kit, verdict), run(kit, verdict))
    assert "no rule changed its verdict" in to_text(found)
    assert not found.worse


def test_text_and_json_say_the_same(kit: Any) -> None:
    found = diff(run(kit, PASSED), run(kit, FAILED))
    text = to_text(found)
    assert (
        "regressed: fails now (1)\n  REDEEM-05 [spec] What REDEEM-05 says\n    passed -> failed: why" in text
    )
    values = json.loads(to_json(found))
    assert values["schema"] == "gateproof/diff/1"
    assert values["worse"] is True
    assert values["regressed"][0]["rule"] == "REDEEM-05"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"role": "service"}, "the roles are gateway and service"),
        ({"spec": Spec(identity="other", version="2", digest="6" * 64)}, "the specs are agent"),
    ],
)
def test_unlike_runs_are_compared_only_when_told(kit: Any, changes: dict[str, Any], said: str) -> None:
    before, after = run(kit, PASSED), run(kit, FAILED, **changes)
    with pytest.raises(Incomparable, match=said):
        diff(before, after)
    found = diff(before, after, anyway=True)
    assert said in found.remarks[0]
    assert found.regressed


def test_reader_is_told_what_may_lie_behind_a_change(kit: Any) -> None:
    before = run(kit, PASSED)
    after = run(kit, FAILED, catalogue_digest="0" * 64, only=("REDEEM-*",), faults=False, ended=False)
    assert diff(before, after).remarks == (
        "the second run is incomplete",
        "the runs had different versions of the rules, which may be the cause of a change",
        "the runs selected their rules differently",
        "one run left faults out, or generated more examples",
    )
