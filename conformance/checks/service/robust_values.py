"""Values that nobody expects, in a message that is right but for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from conformance import odd_input as odd
from conformance.check import check
from conformance.claims import LeftOut
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, served
from conformance.service_session import session_of
from conformance.sound import ask_all
from conformance.target.model import Operation
from conformance.wire.exchange import Request
from conformance.wire.mcp import called

USER = USERS[0]
# With its head the request stays below the 64 kB that the rule judges.
MOST_OCTETS = 62_000
CALL = "tools/call"


@check("ROBUST-01")
def operation_takes_any_value(service: Service, world: ServiceWorld) -> None:
    """Each member of what the operation is sent may have any value and any type, and gets an answer.

    Over HTTP these are the members of the operation's body, and over MCP those of a tool call in a session.
    """
    token, orders = world.gateway.access_token(USER), world.gateway.orders_of(USER)
    served(service.serve(token), orders)
    if service.operation.kind == "mcp":
        session = session_of(service, token)
        served(session.call(token), orders)
        requests = {name: session.posted(token, message) for name, message in _messages(service.operation)}
    else:
        requests = dict(_bodies(service, token))

    small = {name: request for name, request in requests.items() if len(request.body) <= MOST_OCTETS}
    ask_all(service, "operation", small)


def _bodies(service: Service, token: str) -> Iterator[tuple[str, Request]]:
    own = service.operation.json
    if not isinstance(own, dict) or not own:
        raise LeftOut("the operation is sent no JSON object with a member that could be odd")
    for name, body in _spoilt(own):
        yield name, service.with_body(body).request((("Authorization", f"Bearer {token}"),))


def _messages(asked: Operation) -> Iterator[tuple[str, Any]]:
    """Tool calls with one thing odd about each, whose numbers were not used before in the session."""
    numbers, good = count(100), called(asked.tool or "", asked.arguments)

    def message(params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": next(numbers), "method": CALL, "params": params}

    for place in ("id", "method", "params"):
        for name, value in odd.VALUES.items():
            yield f"{place}: {name}", {**message(good), place: value}
    for name, params in _spoilt(good):
        yield f"params.{name}", message(params)
    for name, arguments in _spoilt(asked.arguments):
        yield f"params.arguments.{name}", message({**good, "arguments": arguments})
    yield "a batch of one", [message(good)]
    yield "a batch of two", [message(good), message(good)]
    yield "a batch of others", [None, 1, "a", [], {}, message(good)]


def _spoilt(good: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for member in good:
        for name, value in odd.VALUES.items():
            yield f"{member}: {name}", {**good, member: value}
