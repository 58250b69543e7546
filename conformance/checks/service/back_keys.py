"""The operation while the gateway's keys cannot be fetched."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._failing_parties import (
    USER,
    expect_bounded,
    expect_recovered,
    fault,
    require_works,
    shows_orders,
)
from gateproof.conformance.checks.service.back_failures import FAILURES
from gateproof.conformance.kit.service.key_lookups import may_discover_again, note_lookup
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_REFETCH_S
from gateproof.conformance.suite.turn import Turn
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

# A service that has just fetched the keys may wait before the next fetch; libraries wait half a minute.
ASKS_WITHIN_S = 35.0
# The key set first: it shows whether the service asks for the discovery document at all.
WHERE = (Endpoint.CORE_KEYS, Endpoint.DISCOVERY)
_PASSES_BY = {
    endpoint: f"the service looks for a new key without asking for the {endpoint.value}" for endpoint in WHERE
}
BREAKING = {
    f"{endpoint.value}, {name}": (endpoint, name)
    for endpoint in WHERE
    for name in ("500", "hang", "not-json")
}


@check("BACK-06", needs=["faults"], cases=BREAKING, turn=Turn.NEW_KEY)
def keys_out_of_reach_cost_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, str]
) -> None:
    """While the keys cannot be fetched, the service answers in time; afterwards it finds the new key."""
    endpoint, name = case
    gateway = world.gateway
    _left_out_if_kept(world, endpoint)
    require_works(service, world)
    gateway.script.always(endpoint, FAILURES[name])
    mark = gateway.journal.mark()
    added = gateway.add_core_key()
    try:
        answer, calls = _asked_for_keys(service, world, endpoint)
        count_fault(fault(endpoint, name), sum(call.endpoint is endpoint for call in calls))
        expect_bounded(world, answer, calls, endpoint)
        expect.that(
            endpoint is not Endpoint.CORE_KEYS or not shows_orders(answer, world, USER),
            answer.step,
            expected="no orders: the key could not be known",
            got="orders",
            exchange=answer,
        )
        expect_recovered(service, world, KEY_REFETCH_S)
        if endpoint is Endpoint.CORE_KEYS:
            note_lookup(world, mark)
    finally:
        gateway.script.clear()
        # The next checks use tokens signed with the earlier key again.
        gateway.withdraw_core_key(added)


def _asked_for_keys(service: Service, world: ServiceWorld, endpoint: Endpoint) -> tuple[Exchange, list[Call]]:
    """Calls the operation with a token under a new key, while discovery or the key set fails."""
    gateway, until, pause = world.gateway, time.monotonic() + ASKS_WITHIN_S, 0.25
    # Some services fetch keys in the background: requests between two calls count for the next call.
    mark = begun = gateway.journal.mark()
    while True:
        answer = service.serve_once(world.unseen_token(USER))
        calls = gateway.journal.since(mark)
        if any(call.endpoint is endpoint for call in calls):
            gateway.script.clear()
            return answer, calls
        if any(call.endpoint in WHERE for call in calls):
            note_lookup(world, begun)
            raise LeftOut(_PASSES_BY[endpoint])
        if time.monotonic() > until:
            raise LeftOut("the service looks for no new key when it meets a token under one")
        _left_out_if_kept(world, endpoint)
        mark += len(calls)
        wait_for(Cause.KEYS, pause)
        pause = min(2.0, 1.5 * pause)


def _left_out_if_kept(world: ServiceWorld, endpoint: Endpoint) -> None:
    """LeftOut if a lookup has shown that the service fetches the discovery document no more."""
    if endpoint is Endpoint.DISCOVERY and not may_discover_again(world):
        raise LeftOut(_PASSES_BY[endpoint])
