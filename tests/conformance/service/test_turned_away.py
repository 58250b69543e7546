"""What was turned away opens nothing the second time, and whoever is asked to wait has had no answer yet."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateproof.conformance.kit.service import retry_after
from gateproof.conformance.kit.service.service import expect_refused_twice
from gateproof.conformance.suite.claims import Violated, tallying
from gateproof.conformance.wire.client import RateLimited
from gateproof.conformance.wire.exchange import Answer, Exchange, Request

CHALLENGE = (("WWW-Authenticate", 'Bearer resource_metadata="https://orders.example/metadata"'),)
CHALLENGED = Answer(status=401, headers=CHALLENGE)
BUSY = Answer(status=503, headers=(("Retry-After", "7"),))
ENOUGH = Answer(status=429, headers=(("Retry-After", "240"),))


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited each time."""
    waits: list[float] = []
    monkeypatch.setattr(retry_after.time, "sleep", waits.append)
    return waits


def in_turn(*answers: Answer) -> Callable[[], Exchange]:
    """These answers, the last of them for ever."""
    left = list(answers)

    def ask() -> Exchange:
        answer = left.pop(0) if len(left) > 1 else left[0]
        return Exchange(step="operation", request=Request(method="POST", url="https://o/"), answer=answer)

    return ask


@pytest.mark.parametrize("second", [CHALLENGED, Answer(status=403), ENOUGH])
def test_any_refusal_will_do_the_second_time(slept: list[float], second: Answer) -> None:
    with tallying():
        expect_refused_twice(in_turn(CHALLENGED), in_turn(second))

    assert slept == []


def test_who_is_asked_to_wait_asks_again(slept: list[float]) -> None:
    with tallying():
        expect_refused_twice(in_turn(CHALLENGED), in_turn(BUSY, BUSY, CHALLENGED))

    assert slept == [7.0, 7.0]


@pytest.mark.parametrize("second", [Answer(status=200), Answer(status=503), Answer(status=500)])
@pytest.mark.usefixtures("slept")
def test_what_opens_something_or_breaks_it_is_seen(second: Answer) -> None:
    with tallying(), pytest.raises(Violated):
        expect_refused_twice(in_turn(CHALLENGED), in_turn(BUSY, second))


def test_waiting_without_end_shows_nothing(slept: list[float]) -> None:
    with tallying(), pytest.raises(RateLimited):
        expect_refused_twice(in_turn(CHALLENGED), in_turn(BUSY))

    assert slept == [7.0] * (retry_after.MOST_TIMES - 1)
