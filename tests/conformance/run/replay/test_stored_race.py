"""What a failed race leaves behind is read strictly, and enough to see it fail again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.replay.stored_race import NoRace, stored_race
from gateproof.conformance.suite.rules import load
from gateproof.reports.verdicts import CheckResult, Verdict

CHECK = "CODE-10/one_code_gives_tokens_once[fresh-connections]"
STORED: dict[str, Any] = {"kind": "race", "check": CHECK, "seed": 3, "racers": 16, "rounds": 6, "first": 0}


def defective(name: str) -> Embedded:
    return Embedded(name=name, program=(*WARM, "gateproof.reference.defects", "gateway", name))


def test_a_failed_race_fails_again_from_what_it_left_behind(tmp_path: Path) -> None:
    target, found = defective("code-marked-after-a-query"), list[CheckResult]()
    options = RunOptions(seed=3, examples=40, chosen=frozenset({CHECK}))
    carry_out(target, [load()["CODE-10"]], options, found.append, tmp_path)
    (failed,) = found
    assert failed.verdict is Verdict.FAILED
    assert failed.replay == STORED

    race = stored_race(failed.replay)
    again = RunOptions(seed=race.seed, examples=race.examples, chosen=frozenset({race.check}))
    carry_out(target, [load()["CODE-10"]], again, found.append, tmp_path)
    assert [each.verdict for each in found] == [Verdict.FAILED] * 2
    assert found[1].replay == STORED


def test_races_of_services_are_known() -> None:
    assert stored_race(STORED | {"check": "BACK-10/two_users_calls_never_mix"}).check.startswith("BACK-10/")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "history"}, "kind"),
        ({"check": "CODE-10/nothing"}, "this version does not have"),
        ({"check": []}, "this version does not have"),
        ({"seed": "3"}, "seed"),
        ({"rounds": True}, "rounds"),
        ({"racers": -1}, "racers"),
        ({"racers": 9, "rounds": 20}, "no --examples"),
        ({"more": 1}, "more"),
    ],
)
def test_what_is_no_race_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(NoRace, match=said):
        stored_race(STORED | change)


def test_a_missing_member_is_named() -> None:
    with pytest.raises(NoRace, match="racers"):
        stored_race({name: value for name, value in STORED.items() if name != "racers"})


def test_a_race_of_before_began_with_the_first_round() -> None:
    before = {name: value for name, value in STORED.items() if name != "first"}
    assert stored_race(before) == stored_race(STORED)
