"""A sign-in that ends as a 500 gave no code; where there is to be none it proves nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gateproof.conformance.histories import machine
from gateproof.conformance.histories.observation import CRASHED, Seen
from gateproof.conformance.histories.step_loop import Play, repeat
from gateproof.conformance.histories.steps import Approve, Authorize, History, NewProject, Register, Step
from gateproof.conformance.suite.claims import Unmet

sys.path.insert(0, str(Path(__file__).parent))
import toy


class Crashing(toy.Toy):
    """Every sign-in ends as a 500."""

    def take(self, step: Step, *, awaits: bool = False) -> Seen:
        if isinstance(step, Authorize):
            return Seen(came=CRASHED, said="no code, but a page with status 500", at=self.now)
        return super().take(step, awaits=awaits)


def played(*steps: Step) -> History | None:
    play = toy.play("")
    play.driver = Crashing()  # type: ignore[assignment]
    violation = repeat(play, steps)
    return None if violation is None else violation.history


def test_crash_in_the_place_of_a_code_surprises() -> None:
    steps = (NewProject(), Register(), Authorize(agent=0, project=0))
    assert played(*steps) == steps


@pytest.mark.parametrize(
    "steps",
    [
        (NewProject(), Register(), Authorize(agent=0, project=0, approves=False)),
        (NewProject(policy="hold"), Register(), Authorize(agent=0, project=0)),
    ],
)
def test_crash_where_no_code_is_due_proves_nothing(steps: History) -> None:
    with pytest.raises(Unmet):
        played(*steps)


class CrashingAgain(toy.Toy):
    """An agent's second sign-in ends as a 500, whatever is to come of it."""

    def take(self, step: Step, *, awaits: bool = False) -> Seen:
        came = super().take(step, awaits=awaits)
        if isinstance(step, Authorize) and self.attempts[step.agent, step.project] == 2:
            return Seen(came=CRASHED, said="no code, but a page with status 500", at=self.now)
        return came


def test_crash_that_was_found_is_not_lost_while_it_is_cut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the approval the second sign-in is to give no code, and nobody can judge its crash."""

    def begun(*_: object) -> Play:
        play = toy.play("")
        play.driver = CrashingAgain()  # type: ignore[assignment]
        return play

    monkeypatch.setattr(machine, "_begin", begun)
    signs_in = Authorize(agent=0, project=0)
    steps = (
        NewProject(policy="hold"),
        Register(),
        signs_in,
        Approve(agent=0, project=0),
        signs_in,
        Register(),
    )
    found = repeat(begun(), steps)
    assert found is not None

    shortest = machine._shrunk(begun, None, found)  # type: ignore[arg-type]

    assert shortest.came == CRASHED
    assert shortest.history == (NewProject(), Register(), signs_in, signs_in)
