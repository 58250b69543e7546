"""A gateway that leaves its merchant in peace after trouble is waited for, and not without end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gateproof.conformance.histories import step_loop
from gateproof.conformance.histories.machine import USUAL
from gateproof.conformance.histories.state import State, TargetFacts
from gateproof.conformance.histories.step_loop import Play, repeat
from gateproof.conformance.histories.steps import Authorize, Exchange, Forward, History, Merchant, Redeem

sys.path.insert(0, str(Path(__file__).parent))
import toy

CAUTION_S, BREAKER_S = 0.1, 1.0
# The merchant fails one user, and the gateway keeps away from it for all of them.
TROUBLE: History = (
    *USUAL,
    Authorize(agent=0, project=0, user=1),
    Exchange(code=1),
    Merchant(project=0, manner="stumbles once"),
    Forward(past="merchant token"),
    Redeem(code=0, token=0),
    Redeem(code=1, token=0),
)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_loop, "_RETRY_S", CAUTION_S)
    monkeypatch.setattr(step_loop, "_PAUSE_S", 0.02)
    monkeypatch.setattr(step_loop, "BREAKER_S", BREAKER_S)


def play(spares_s: float, patience_s: float) -> Play:
    driver = toy.Toy(spares_s=spares_s, patience_s=patience_s)
    return Play(driver=driver, state=State(facts=TargetFacts(hears=True, life_s=toy.LIFE_S)))  # type: ignore[arg-type]


def test_circuit_that_closes_again_is_waited_for() -> None:
    assert repeat(play(spares_s=3 * CAUTION_S, patience_s=CAUTION_S), TROUBLE) is None


def test_circuit_that_stays_open_surprises() -> None:
    violation = repeat(play(spares_s=3600, patience_s=CAUTION_S), TROUBLE)
    assert violation is not None
    assert (violation.came, len(violation.history)) == ("5xx", len(TROUBLE))


def test_nobody_waits_for_it_while_a_history_is_cut_down() -> None:
    assert repeat(play(spares_s=3 * CAUTION_S, patience_s=CAUTION_S / 10), TROUBLE) is not None
