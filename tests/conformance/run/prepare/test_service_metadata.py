"""A service that was just launched is not held to what answers in its place while it starts."""

from __future__ import annotations

import pytest

from gateproof.conformance.run.prepare import service_metadata
from gateproof.conformance.run.prepare.service_metadata import find_metadata
from gateproof.conformance.wire.exchange import Answer, Exchange, Headers, Request

URL = "https://orders.example/.well-known/oauth-protected-resource"
ELSEWHERE = "https://orders.example/about.json"
ASKED = Request(method="GET", url=URL)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Service:
    """Starts after so many seconds, or has no document until it is called for the first time."""

    metadata_url = URL
    service_url = "https://orders.example/orders"

    def __init__(self, clock: Clock, starts_at: float, pointer: str = URL, *, lazy: bool = False) -> None:
        self.clock = clock
        self.starts_at = starts_at
        self.pointer = self.said = pointer
        self.lazy = lazy
        self.called = False
        self.wire = self

    def may_reach(self, url: str) -> bool:
        return url.startswith("https://orders.example/")

    def metadata(self) -> Exchange:
        there = self._is_up() and self.pointer == URL and (self.called or not self.lazy)
        return answered(200 if there else 404)

    def fetch(self, url: str, _step: str) -> Exchange:
        return answered(200 if url == self.pointer and self._is_up() else 404)

    def operate(self) -> Exchange:
        if not self._is_up():
            return answered(404)
        self.called = True
        return answered(401, ("WWW-Authenticate", f'Bearer resource_metadata="{self.said}"'))

    def _is_up(self) -> bool:
        return self.clock.now >= self.starts_at


def answered(status: int, *headers: tuple[str, str]) -> Exchange:
    given: Headers = headers
    return Exchange(step="any", request=ASKED, answer=Answer(status=status, headers=given, body=b"{}"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(service_metadata, "time", clock)
    return clock


@pytest.mark.parametrize("guessed", [True, False])
def test_a_launched_service_has_the_time_of_its_launch(clock: Clock, guessed: bool) -> None:
    found = find_metadata(Service(clock, 12), guessed=guessed, launched_within_s=20)  # type: ignore[arg-type]

    assert found.first.status == 200
    assert 12 <= clock.now < 13


def test_a_service_that_runs_already_is_held_to_what_it_says_after_some_seconds(clock: Clock) -> None:
    found = find_metadata(Service(clock, 12), guessed=True)  # type: ignore[arg-type]

    assert found.first.status == 404
    assert clock.now < 6


@pytest.mark.parametrize("guessed", [True, False])
def test_a_document_that_the_first_call_makes_is_not_there_before_it(clock: Clock, guessed: bool) -> None:
    found = find_metadata(Service(clock, 0, lazy=True), guessed=guessed, launched_within_s=20)  # type: ignore[arg-type]

    assert found.first.status == 404


def test_a_challenge_that_names_another_address_is_not_waited_for_in_vain(clock: Clock) -> None:
    found = find_metadata(Service(clock, 0, ELSEWHERE), guessed=True, launched_within_s=20)  # type: ignore[arg-type]

    assert found.metadata_url == ELSEWHERE
    assert found.first.status == 200
    assert clock.now < 6


def test_an_address_that_only_the_challenge_tells_is_found_after_a_slow_start(clock: Clock) -> None:
    found = find_metadata(Service(clock, 12, ELSEWHERE), guessed=True, launched_within_s=20)  # type: ignore[arg-type]

    assert found.metadata_url == ELSEWHERE
    assert found.first.status == 200


def test_an_address_under_a_public_name_is_looked_for_where_the_service_is_reached(clock: Clock) -> None:
    service = Service(clock, 0, ELSEWHERE)
    service.said = ELSEWHERE.replace("orders.example", "orders.public.example")
    found = find_metadata(service, guessed=True)  # type: ignore[arg-type]

    assert found.metadata_url == ELSEWHERE
    assert found.first.status == 200


@pytest.mark.parametrize("said", ["http://[oops", "https:///nowhere", "https://:1:2/"])
def test_an_address_that_is_none_leads_nowhere(clock: Clock, said: str) -> None:
    service = Service(clock, 0)
    service.said = said

    assert find_metadata(service, guessed=True).metadata_url == URL  # type: ignore[arg-type]
