"""Connections to the gateway and the merchant that are cut, slow or unstable."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.service._failing_parties import (
    HOP,
    IN_TIME,
    MOST_TRIES,
    OTHER,
    USER,
    expect_bounded,
    expect_recovered,
    require_works,
    shows_orders,
)
from gateproof.conformance.faults.network import LOST, SLOW, NetworkFault
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, observe, require
from gateproof.fakes.gateway.script import Endpoint

LINES = {
    # A connection without any data is the same as a silent party.
    **{
        f"redemption, {name}": (Endpoint.REDEMPTION, line)
        for name, line in LOST.items()
        if name != "line-dead"
    },
    **{f"merchant API, {name}": (Endpoint.MERCHANT_API, line) for name, line in SLOW.items()},
    "merchant API, answer-cut": (Endpoint.MERCHANT_API, LOST["answer-cut"]),
}
# The discovery document may have the same listener, and some services fetch it for each call.
MOST_CONNECTIONS = 3 * MOST_TRIES
# One call may fail on a pooled connection that was closed without the service noticing.
TRIES = 3


@check("BACK-06", needs=["faults"], cases=LINES)
def broken_line_costs_no_more_than_a_bounded_try(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, NetworkFault]
) -> None:
    """While a connection is bad, the service answers in time after few tries; afterwards it works."""
    endpoint, line = case
    if not world.listeners.apart(endpoint):
        raise LeftOut("gateway and merchant have one address, so a fault of one connection affects both")
    require_works(service, world)
    gateway, mark = world.gateway, world.gateway.journal.mark()
    with world.listeners.behind_a_proxy(endpoint) as proxy:
        line.arm(proxy)
        for _ in range(TRIES):
            token = world.unseen_token(USER)
            answer = service.serve_once(token)
            if proxy.connections:
                break
        struck, connections, troubles = line.struck(proxy), proxy.connections, proxy.troubles
    calls = gateway.journal.since(mark)

    require.that(not troubles, "byte-level proxy", expected="no trouble of its own", got=", ".join(troubles))
    require.that(connections > 0, "operation of a user who is new", expected="a connection", got="none")
    fault = replace(
        line.fault,
        name=f"{endpoint.value}, {line.fault.name}",
        hop=HOP[endpoint],
        does=f"is reached over a connection that {line.fault.does.rpartition('that ')[2]}",
        holds=f"{IN_TIME[endpoint]}no orders of other users, and success after the fault",
    )
    count_fault(fault, struck)
    observe(connections=connections, served=service.returns_orders(answer, gateway.orders_of(USER)))
    expect_bounded(world, answer, calls, endpoint)
    expect.that(
        endpoint is Endpoint.MERCHANT_API or connections <= MOST_CONNECTIONS,
        f"connections for one operation to where the {endpoint.value} is",
        expected=f"{MOST_CONNECTIONS} at most",
        got=f"{connections}",
    )
    expect.that(
        not shows_orders(answer, world, OTHER),
        answer.step,
        expected="no orders of anybody else",
        got="orders of the other user",
        exchange=answer,
    )
    expect_recovered(service, world, failed=lambda: token)
