"""A client that cancels a request ends no other client's call with the same request ID."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, require_works
from gateproof.conformance.checks.service._left_calls import reached
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

# Less than the timeout of a service that gives up on a party within a second.
ANSWERED_AFTER_S = 0.8
NOBODYS = "gateproof-nobodys"


@check("SERVE-01")
def call_is_not_cancelled_by_another_user(service: Service, world: ServiceWorld) -> None:
    """A call is served although another user, in another MCP session, cancels a request with its ID.

    Clients number their requests alike. First the other user cancels an ID that is not in use.
    """
    if service.operation.kind != "mcp":
        raise LeftOut("the operation is no MCP tool, whose calls can be cancelled")
    require_works(service, world)
    control = _called(service, world, NOBODYS)
    if not service.returns_orders(control, world.gateway.orders_of(USER)):
        raise LeftOut("a call that takes a moment is not served, also if nobody cancels it")
    answer = _called(service, world, None)
    if not service.returns_orders(answer, world.gateway.orders_of(USER)):
        answer = _called(service, world, None)
    expect.that(
        service.returns_orders(answer, world.gateway.orders_of(USER)),
        "operation whose request ID another user has cancelled in another session",
        expected="the orders, at one of two tries",
        got=answer.outcome(),
        exchange=answer,
    )


def _called(service: Service, world: ServiceWorld, cancelled: str | None) -> Exchange:
    """The answer to a call while another user cancels this request ID; None stands for that of the call."""
    gateway = world.gateway
    token, others = world.unseen_token(USER), world.unseen_token(OTHER)
    own, other = _session(service, token), _session(service, others)
    require_served(other.call(others), gateway.orders_of(OTHER))
    call = own.lone_call(token)
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.MERCHANT_API, Answer(delay_s=ANSWERED_AFTER_S))
    with ThreadPoolExecutor(1) as caller:
        asked = caller.submit(service.wire.send, "operation", call)
        if not reached(world, mark, Endpoint.MERCHANT_API):
            raise LeftOut("no call of the operation reached the merchant API")
        params = {"requestId": cancelled or json.loads(call.body)["id"], "reason": "the user left"}
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        service.wire.send("operation: notifications/cancelled", other.posted(others, message))
        answer = asked.result()
    gateway.script.clear()
    return answer


def _session(service: Service, token: str) -> ServiceSession:
    service.keyring.add(Secret("access_token", token))
    session = session_of(service, token)
    if not session.has_id():
        raise LeftOut("the server keeps no sessions")
    return session
