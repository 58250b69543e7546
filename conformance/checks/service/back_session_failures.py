"""Calls in an MCP session in which a call has failed."""

from __future__ import annotations

from gateproof.conformance.checks.service._expiring import OUTSIDE
from gateproof.conformance.checks.service._failing_parties import USER, fault, require_recovered
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.recovery import ask_until_served
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.suite.time_limits import SERVICE_BREAKER_S
from gateproof.conformance.wire.client import asked_to_wait
from gateproof.fakes.gateway.script import Answer, Endpoint

FAILING = {
    f"{endpoint.value}, {name}": (endpoint, name, failure)
    for endpoint, name, failure in (
        (Endpoint.REDEMPTION, "500", Answer(status=500)),
        (Endpoint.REDEMPTION, "reset", Answer(reset=True)),
        (Endpoint.MERCHANT_API, "500", Answer(status=500)),
    )
}


@check("BACK-06", needs=["faults"], cases=FAILING)
def session_recovers_from_a_failed_call(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, str, Answer]
) -> None:
    """A call that fails in an MCP session because of another party does not end all calls in it.

    The server may end the session instead and answer that there is none.
    """
    endpoint, name, failure = case
    gateway, orders = world.gateway, world.gateway.orders_of(USER)
    token = world.unseen_token(USER)
    unharmed = session_of(service, token)
    require_served(unharmed.call(token), orders)
    twin = unharmed.call(token)
    if twin.status in OUTSIDE:
        raise LeftOut("the server ends a session after a call that works")
    require_served(twin, orders)
    token = world.unseen_token(USER)
    session = session_of(service, token)
    mark = gateway.journal.mark()
    gateway.script.always(endpoint, failure)
    session.call_once(token)
    gateway.script.clear()
    met = len(gateway.journal.since(mark, endpoint))
    if not met:
        raise LeftOut(f"the first call in a session makes no request to the {endpoint.value}")
    count_fault(fault(endpoint, name), met)
    require_recovered(service, world)

    answer = ask_until_served(
        service,
        world,
        lambda: session.call_once(token),
        SERVICE_BREAKER_S,
        is_over=lambda answer: answer.status in OUTSIDE,
    )
    if answer.status in OUTSIDE:
        raise LeftOut("the server ends a session in which a call has failed")
    if asked_to_wait(answer.answer) is not None:
        raise LeftOut("the server still asks to wait in the session in which a call has failed")
    expect.that(
        service.returns_orders(answer, orders),
        "operation in the session in which a call has failed, after a new session has worked",
        expected="the orders, or an answer that there is no such session",
        got=answer.outcome(),
        exchange=answer,
    )
