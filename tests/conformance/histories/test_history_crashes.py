"""A sign-in that ends as a 500 gave no code; where there is to be none it proves nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.claims import Unmet
from conformance.histories.playing import repeat
from conformance.histories.seen import CRASHED, Seen
from conformance.histories.steps import Authorize, History, NewProject, Register, Step

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
    play.player = Crashing()  # type: ignore[assignment]
    surprise = repeat(play, steps)
    return None if surprise is None else surprise.history


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
