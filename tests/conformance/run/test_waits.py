"""What a check waited for."""

from __future__ import annotations

from gateproof.conformance.run.waits import AnswerTime, waits
from gateproof.conformance.suite.pauses import Cause


def test_requests_at_once_wait_only_once() -> None:
    time = AnswerTime()
    for begun, ended in [(10.0, 12.0), (11.0, 11.5), (1.0, 2.0), (11.0, 13.0), (20.0, 20.5)]:
        time.add(begun, ended)
    assert time.total_s() == 1.0 + 3.0 + 0.5


def test_next_check_begins_without_waits() -> None:
    time = AnswerTime()
    time.add(1.0, 2.0)
    time.reset()
    assert time.total_s() == 0.0


def test_rest_of_the_time_has_no_cause() -> None:
    paused = {Cause.KEYS: 0.5}
    found = waits(took_s=5.0, computed_s=0.5, answers_s=3.25, paused_s=paused)
    assert found == {"target": 3.25, "keys": 0.5, "other": 0.75}


def test_short_waits_are_left_out() -> None:
    assert waits(took_s=0.3, computed_s=0.24, answers_s=0.03, paused_s={Cause.LOG: 0.02}) == {}


def test_answers_take_no_longer_than_the_check() -> None:
    # A request of this check began before it, or threads computed during the waits.
    assert waits(took_s=2.0, computed_s=1.5, answers_s=2.5, paused_s={Cause.EXPIRY: 0.5}) == {
        "target": 1.5,
        "expiry": 0.5,
    }
