"""Callers who leave, or cancel their call, while the service waits for gateway or merchant."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from gateproof.conformance.checks.service._ending_proxy_token import proxy_token_has_ended
from gateproof.conformance.checks.service._failing_parties import USER, recovers, works
from gateproof.conformance.faults.agent_side import BROKEN
from gateproof.conformance.faults.misbehaving import sent_and_left
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault
from gateproof.conformance.suite.fault import Fault, Hop, Layer
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.script import Answer, Endpoint

# As many as a small pool has connections.
CALLERS = 10
# How long a call may take to reach the party that it waits for.
REACHES_WITHIN_S = 3.0
# A service may give up on a party within a second; the callers give up before.
_PAUSE_S = 0.02
_LEAVING = replace(BROKEN["abandoned"].fault, hop=Hop.AGENT_TO_SERVICE)
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
    for how, fault in (("left", _LEAVING), ("cancelled", _CANCELLING))
}


@check("ROBUST-02", needs=["faults"], cases=WAITING)
def operation_works_after_callers_gave_up(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, Fault]
) -> None:
    """The operation works after callers gave up while a party had not answered yet.

    They close their connections; over MCP, they cancel their calls before in the other cases.
    """
    endpoint, fault = case
    if fault is _CANCELLING and service.operation.kind != "mcp":
        raise LeftOut("the operation is no MCP tool, whose calls can be cancelled")
    gateway = world.gateway
    works(service, world)
    if endpoint is Endpoint.TOKEN:
        proxy_token_has_ended(service, world)
    token = world.unseen_token(USER)
    service.keyring.add(Secret("access_token", token))
    session = session_of(service, token) if service.operation.kind == "mcp" else None
    calls = [_call(service, session, token) for _ in range(CALLERS)]
    mark = gateway.journal.mark()
    gateway.script.always(endpoint, Answer(hangs=True))
    with ExitStack() as stack:
        _sent(service, calls, stack)
        met = _reached(world, mark, endpoint)
        if fault is _CANCELLING and session is not None and met:
            _cancel(session, calls, token)
    gateway.script.clear()
    if not met:
        raise LeftOut(f"no call reached the {endpoint.value} while its caller was there")

    count_fault(fault, met)
    recovers(service, world, failed=lambda: token)


def _call(service: Service, session: ServiceSession | None, token: str) -> Request:
    if session is not None:
        return session.lone_call(token)
    return service.request((("Authorization", f"Bearer {token}"),))


def _sent(service: Service, calls: Sequence[Request], stack: ExitStack) -> None:
    """Each call goes out on a connection of its own, which ends with the stack."""
    place = service.wire.place_of(calls[0].url)
    assert place is not None  # noqa: S101 - the operation is at the service's own address
    for call in calls:
        stack.enter_context(sent_and_left(place, call, number=1))


def _reached(world: ServiceWorld, mark: int, endpoint: Endpoint) -> int:
    """How many requests of the calls have come to the party; waits for the first."""
    until = time.monotonic() + REACHES_WITHIN_S
    while not world.gateway.journal.since(mark, endpoint) and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    return len(world.gateway.journal.since(mark, endpoint))


def _cancel(session: ServiceSession, calls: Sequence[Request], token: str) -> None:
    for call in calls:
        params = {"requestId": json.loads(call.body)["id"], "reason": "the user left"}
        message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        session.service.wire.send("operation: notifications/cancelled", session.posted(token, message))
