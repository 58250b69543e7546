"""A service in trouble is waited for, once; a service that is well is not even asked."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.kit.service import processes, recovery
from gateproof.conformance.kit.service.processes import PROXY_TOKEN_HEADER, has_several
from gateproof.conformance.suite.time_limits import SERVICE_BREAKER_S
from gateproof.conformance.wire.client import RateLimited
from gateproof.conformance.wire.exchange import Answer, Exchange, Request
from gateproof.fakes.gateway.gateway import ScriptedGateway
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

# What a service has around it, after calls that were answered so.
World = Callable[..., Any]
ASKED = Request(method="POST", url="http://s/orders")


class Service:
    """Works again after so many calls, and meanwhile fails or asks to wait for so long."""

    def __init__(self, lost: float, asks_to_wait_s: int | None = None) -> None:
        self.lost = lost
        self.asks_to_wait_s = asks_to_wait_s
        self.asked = 0
        self.tokens: set[str] = set()

    def serve_once(self, token: str) -> Exchange:
        self.asked += 1
        self.tokens.add(token)
        wait = () if self.asks_to_wait_s is None else (("Retry-After", str(self.asks_to_wait_s)),)
        answer = Answer(status=200) if self.asked > self.lost else Answer(status=503, headers=wait)
        return Exchange(step="operation", request=ASKED, answer=answer)

    def returns_orders(self, answer: Exchange, _orders: object) -> bool:
        return answer.status == 200


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(recovery, "time", clock)
    monkeypatch.setattr("gateproof.conformance.suite.pauses.time", clock)
    return clock


@pytest.fixture
def world(scripted_gateway: ScriptedGateway) -> World:
    def around(*calls: Any) -> Any:
        for ordinal, (endpoint, status, *proxy_token) in enumerate(calls, 1):
            scripted_gateway.journal.note(
                Call(
                    ordinal=ordinal,
                    endpoint=endpoint,
                    method="GET",
                    target="/",
                    headers=tuple((PROXY_TOKEN_HEADER, each) for each in proxy_token),
                    body=b"",
                    at_s=20.0 * ordinal,
                    status=status,
                )
            )
        return SimpleNamespace(
            gateway=scripted_gateway,
            service_state=SimpleNamespace(given_up=False, failed=False, recovered_at=0),
            unseen_token=scripted_gateway.access_token,
            limits=SimpleNamespace(worker_processes=None),
        )

    return around


SERVED = (Endpoint.MERCHANT_API, 200)
FAILED = (Endpoint.REDEMPTION, 500)
CUT = (Endpoint.REDEMPTION, 0)
REFUSED = (Endpoint.REDEMPTION, 404)


def test_a_minute_of_an_open_circuit_is_waited_out(clock: Clock, world: World) -> None:
    around = world()

    recovery.call_until_recovered(Service(lost=30), around)  # type: ignore[arg-type]

    assert 45 < clock.now < SERVICE_BREAKER_S
    assert not around.service_state.given_up


def test_who_did_not_get_over_one_trouble_is_given_less_for_the_next(clock: Clock, world: World) -> None:
    around = world()

    recovery.call_until_recovered(Service(lost=float("inf")), around)  # type: ignore[arg-type]
    first, around_again = clock.now, around.service_state.given_up
    recovery.call_until_recovered(Service(lost=float("inf")), around)  # type: ignore[arg-type]

    assert around_again
    assert clock.now - first < 3 * recovery.ONCE_GIVEN_UP_S < first


@pytest.mark.usefixtures("clock")
def test_a_short_wait_gives_nobody_up(world: World) -> None:
    around = world()

    recovery.call_until_recovered(Service(lost=float("inf")), around, 10)  # type: ignore[arg-type]

    assert not around.service_state.given_up


@pytest.mark.usefixtures("clock")
def test_each_try_has_a_token_of_its_own(world: World) -> None:
    around, service = world(), Service(lost=5)

    recovery.call_until_recovered(service, around, token=lambda: around.gateway.access_token("alice"))  # type: ignore[arg-type]

    assert len(service.tokens) == service.asked == 6


def test_a_wait_for_which_there_is_no_time_is_not_taken_at_its_word(clock: Clock, world: World) -> None:
    answer = recovery.call_until_recovered(Service(lost=30, asks_to_wait_s=120), world())  # type: ignore[arg-type]

    assert answer.status == 200
    assert clock.now < SERVICE_BREAKER_S


def test_a_wait_for_which_there_is_time_is_kept_also_beyond_a_short_wait(clock: Clock, world: World) -> None:
    service = Service(lost=1, asks_to_wait_s=40)

    answer = recovery.call_until_recovered(service, world(), 10)  # type: ignore[arg-type]

    assert answer.status == 200
    assert service.asked == 2
    assert clock.now == 40


@pytest.mark.usefixtures("clock")
def test_who_asks_to_wait_to_the_end_is_not_held_to_it(world: World) -> None:
    around = world()

    with pytest.raises(RateLimited):
        recovery.call_until_recovered(Service(lost=float("inf"), asks_to_wait_s=120), around)  # type: ignore[arg-type]

    assert around.service_state.given_up


@pytest.mark.usefixtures("clock")
def test_who_asks_stops_at_an_answer_that_ends_the_wait(world: World) -> None:
    around, service = world(), Service(lost=float("inf"))

    recovery.ask_until_served(
        service,  # type: ignore[arg-type]
        around,
        lambda: service.serve_once(around.unseen_token("alice")),
        SERVICE_BREAKER_S,
        is_over=lambda _: service.asked == 3,
    )

    assert service.asked == 3
    assert not around.service_state.given_up


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("calls", "asked"),
    [
        ((), 0),
        ((FAILED,), 0),
        ((SERVED,), 0),
        ((FAILED, SERVED), 0),
        ((SERVED, FAILED), 3),
        ((SERVED, CUT), 3),
    ],
)
def test_between_two_checks_trouble_is_waited_for_where_there_was_some(
    calls: Any, asked: int, world: World
) -> None:
    service = Service(lost=2)

    recovery.wait_until_recovered(service, world(*calls))  # type: ignore[arg-type]

    assert service.asked == asked


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("stated", "calls", "asked"),
    [
        (None, (SERVED, FAILED, SERVED), 0),
        (1, (SERVED, FAILED, SERVED), 0),
        (3, (SERVED, FAILED, SERVED), 8),
        (3, (SERVED, CUT, SERVED), 8),
        (3, (SERVED, REFUSED, SERVED), 0),
        (3, (SERVED,), 0),
    ],
)
def test_after_a_failure_every_process_is_waited_for(
    stated: int | None, calls: Any, asked: int, world: World
) -> None:
    around, service = world(*calls), Service(lost=2)
    around.limits.worker_processes = stated

    recovery.wait_until_recovered(service, around)  # type: ignore[arg-type]
    once = service.asked
    recovery.wait_until_recovered(service, around)  # type: ignore[arg-type]

    assert once == asked
    assert service.asked == once


@pytest.mark.usefixtures("clock")
def test_failed_answers_count_like_failures_of_a_party(world: World) -> None:
    around, service = world(SERVED), Service(lost=0)
    around.limits.worker_processes, around.service_state.failed = 2, True

    recovery.wait_until_recovered(service, around)  # type: ignore[arg-type]

    assert service.asked == 4
    assert not around.service_state.failed


@pytest.mark.parametrize(
    ("shown", "several"),
    [
        ((), False),
        (("a", "a", "b", "b"), False),
        (("a", "b", "a"), True),
        (("a", "b", "c", "b"), True),
    ],
)
def test_processes_show_by_their_proxy_tokens(shown: tuple[str, ...], several: bool, world: World) -> None:
    around = world(*((Endpoint.REDEMPTION, 200, token) for token in shown))

    assert has_several(around) is several


def test_tokens_of_a_burst_show_no_processes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "BURST_S", 1000.0)

    assert not has_several(world(*((Endpoint.REDEMPTION, 200, token) for token in "abab")))


@pytest.mark.usefixtures("clock")
def test_service_that_never_worked_is_not_waited_for(world: World) -> None:
    around, service = world(FAILED), Service(lost=float("inf"))
    around.limits.worker_processes = 2

    recovery.wait_until_recovered(service, around)  # type: ignore[arg-type]

    assert service.asked == 0


def test_processes_that_do_not_recover_are_given_up(clock: Clock, world: World) -> None:
    around, service = world(SERVED, FAILED, SERVED), Service(lost=float("inf"))
    around.limits.worker_processes = 2

    recovery.wait_until_recovered(service, around)  # type: ignore[arg-type]

    assert around.service_state.given_up
    assert clock.now < SERVICE_BREAKER_S + 2


@pytest.mark.usefixtures("clock")
def test_limited_rate_of_calls_is_not_used_up(world: World) -> None:
    around, service = world(SERVED, FAILED, SERVED), Service(lost=5, asks_to_wait_s=30)
    around.limits.worker_processes = 2

    recovery.wait_until_recovered(service, around)  # type: ignore[arg-type]

    assert service.asked == 1
