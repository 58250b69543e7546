"""Callers who disconnect, or cancel their call, while the service waits for gateway or merchant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from gateproof.conformance.checks.service._ending_proxy_token import proxy_token_has_ended
from gateproof.conformance.checks.service._failing_parties import USER, expect_recovered, require_works
from gateproof.conformance.checks.service._left_calls import call_of, reached, sent
from gateproof.conformance.faults.agent_side import BROKEN
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault
from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

# As many calls as a small pool has connections.
CALLERS = 10
LEAVING = replace(BROKEN["abandoned"].fault, hop=Hop.AGENT_TO_SERVICE)
_CANCELLING = Fault(
    name="cancelled call",
    layer=Layer.CLIENT,
    hop=Hop.AGENT_TO_SERVICE,
    does="cancels its call over MCP before the answer",
    holds="the normal flow works afterwards",
)
WAITING = {
    f"{endpoint.value}, {how}": (endpoint, fault)
    for endpoint in (Endpoint.TOKEN, Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for how, fault in (("left", LEAVING), ("cancelled", _CANCELLING))
}


@check("ROBUST-02", needs=["faults"], cases=WAITING)
def operation_works_after_callers_gave_up(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, Fault]
) -> None:
    """The operation works after callers gave up while a party had not answered yet.

    They close their connections; in the other cases, over MCP, they cancel their calls before they close.
    """
    endpoint, fault = case
    if fault is _CANCELLING and service.operation.kind != "mcp":
        raise LeftOut("the operation is no MCP tool, whose calls can be cancelled")
    gateway = world.gateway
    require_works(service, world)
    if endpoint is Endpoint.TOKEN:
        proxy_token_has_ended(service, world)
    token = world.unseen_token(USER)
    service.keyring.add(Secret("access_token", token))
    session = session_of(service, token) if service.operation.kind == "mcp" else None
    calls = [call_of(service, session, token) for _ in range(CALLERS)]
    mark = gateway.journal.mark()
    gateway.script.always(endpoint, Answer(hangs=True))
    with ExitStack() as stack:
        for call in calls:
            stack.enter_context(sent(service, call))
        # A service may give up on a party within a second, so the callers give up earlier.
        met = reached(world, mark, endpoint)
        if fault is _CANCELLING and session is not None and met:
            _cancel(session, calls, token)
    gateway.script.clear()
    if not met:
        raise LeftOut(f"no call reached the {endpoint.value} while its caller was there")

    count_fault(fault, met)
    expect_recovered(service, world, failed=lambda: token)


def _cancel(session: ServiceSession, calls: Sequence[Request], token: str) -> None:
    for call in calls:
        params = {"requestId": json.loads(call.body)["id"], "reason": "the user left"}
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        session.service.wire.send("operation: notifications/cancelled", session.posted(token, message))
