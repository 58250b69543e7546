"""The pauses of a check are counted by what they wait for."""

from __future__ import annotations

from contextlib import suppress

import pytest

from gateproof.conformance.suite.pauses import Cause, counting_pauses, wait_for, waiting_for


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only sleeping moves."""
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    monkeypatch.setattr("time.monotonic", lambda: sum(slept))
    return slept


def test_pauses_of_one_cause_add_up() -> None:
    with counting_pauses() as paused:
        wait_for(Cause.KEYS, 2.0)
        wait_for(Cause.EXPIRY, 8.0)
        wait_for(Cause.KEYS, 1.0)
    assert paused == {"keys": 3.0, "expiry": 8.0}


def test_pause_that_ends_with_an_error_counts(clock: list[float]) -> None:
    with counting_pauses() as paused, suppress(ValueError), waiting_for(Cause.CONTROL):
        clock.append(4.0)
        raise ValueError
    assert paused == {"control": 4.0}


def test_each_check_counts_its_own() -> None:
    with counting_pauses() as before:
        wait_for(Cause.LOG, 1.0)
    with counting_pauses() as paused:
        wait_for(Cause.LOG, 2.0)
    wait_for(Cause.LOG, 4.0)
    assert (before, paused) == ({"log": 1.0}, {"log": 2.0})
