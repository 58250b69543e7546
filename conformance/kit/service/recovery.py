"""Waits until a service has recovered from a fault; after one recovery that failed, waits are short."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from gateproof.conformance.kit.service.processes import has_several, processes
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import SERVICE_BREAKER_S
from gateproof.conformance.wire.client import RATE_LIMIT_BUDGET_S, RateLimited, asked_to_wait
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

# After one failed recovery, the wait for each later fault.
ONCE_GIVEN_UP_S = 3.0
USER = USERS[0]
# After a failure: successful calls in a row for each process, and the pause after a failed one.
CALLS_A_PROCESS = 2
_PAUSE_S = 0.5


def call_until_recovered(
    service: Service,
    world: ServiceWorld,
    within_s: float = SERVICE_BREAKER_S,
    token: Callable[[], str] | None = None,
) -> Exchange:
    """Calls the operation until it works or the time is over; by default each time with a new token.

    If the service asks to wait (Retry-After), this waits as long as the time allows. If the last answer still
    asks to wait, the recovery was not seen: RateLimited.
    """
    service_state = world.service_state
    answer = ask_until_served(
        service,
        world,
        lambda: service.serve_once(token() if token is not None else world.unseen_token(USER)),
        within_s,
    )
    if service.returns_orders(answer, world.gateway.orders_of(USER)):
        service_state.given_up = False
    elif within_s >= SERVICE_BREAKER_S:
        service_state.given_up = True
    if asked_to_wait(answer.answer) is not None:
        raise RateLimited(f"{answer.step}: still status {answer.status} when there was no more time to wait")
    return answer


def ask_until_served(
    service: Service,
    world: ServiceWorld,
    ask: Callable[[], Exchange],
    within_s: float,
    is_over: Callable[[Exchange], bool] = lambda _: False,
) -> Exchange:
    """Asks until the answer shows the orders or `is_over`, or the time is over; returns the last answer."""
    orders, given_up = world.gateway.orders_of(USER), world.service_state.given_up
    given_s = min(within_s, ONCE_GIVEN_UP_S) if given_up else within_s
    asked_s = given_s if given_up else max(given_s, RATE_LIMIT_BUDGET_S)
    begun, pause = time.monotonic(), 0.05
    while True:
        answer = ask()
        wait_s = asked_to_wait(answer.answer)
        left_s = begun + (given_s if wait_s is None else asked_s) - time.monotonic()
        if service.returns_orders(answer, orders) or is_over(answer) or left_s <= 0:
            return answer
        wait_for(Cause.RECOVERY, max(pause, wait_s) if wait_s is not None and wait_s < left_s else pause)
        pause = min(2.0, 2 * pause)


def wait_until_recovered(service: Service, world: ServiceWorld) -> None:
    """Waits after a check until a service that worked before has recovered."""
    state, journal = world.service_state, world.gateway.journal
    failed = state.failed or any(
        not call.status or call.status >= 500 for call in journal.since(state.recovered_at)
    )
    try:
        if not state.given_up and _was_in_trouble(world):
            with suppress(RateLimited):
                call_until_recovered(service, world)
        worked = any(map(_served, journal.since(0)))
        if not state.given_up and failed and worked and has_several(world):
            with suppress(LeftOut):
                _until_all_processes_serve(service, world)
    finally:
        state.failed, state.recovered_at = False, journal.mark()


def _until_all_processes_serve(service: Service, world: ServiceWorld) -> None:
    """Calls until enough calls in a row work: each process may have a circuit breaker of its own.

    Ends if the service asks to wait: its rate of calls is limited, and more calls would prolong that.
    """
    orders, deadline, in_a_row = world.gateway.orders_of(USER), time.monotonic() + SERVICE_BREAKER_S, 0
    while in_a_row < CALLS_A_PROCESS * processes(world):
        answer = service.serve_once(world.unseen_token(USER))
        if asked_to_wait(answer.answer) is not None:
            return
        if service.returns_orders(answer, orders):
            in_a_row += 1
            continue
        if time.monotonic() > deadline:
            world.service_state.given_up = True
            return
        in_a_row = 0
        wait_for(Cause.RECOVERY, _PAUSE_S)


def _was_in_trouble(world: ServiceWorld) -> bool:
    """True if there was a failure or refusal since the service last got orders from the merchant."""
    calls = world.gateway.journal.since(0)
    last = max((at for at, call in enumerate(calls) if _served(call)), default=None)
    return last is not None and any(call.status >= 400 or not call.status for call in calls[last + 1 :])


def _served(call: Call) -> bool:
    return call.endpoint is Endpoint.MERCHANT_API and call.status == 200
