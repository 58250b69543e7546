"""Odd values in an otherwise correct message."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.kit.robust_answers import ask_all
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.targets.model import Operation
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.mcp import called
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.gateway import MERCHANT_TOKEN_S
from gateproof.fakes.gateway.keys import signed
from gateproof.fakes.gateway.script import Answer, Endpoint

USER = USERS[0]
# With its headers the request stays below the 64 kB that the rule covers.
MOST_OCTETS = 62_000
CALL = "tools/call"
# Unusual claims of the type that the specification states; any other would be the gateway's failure.
CLAIMS: Mapping[str, tuple[str, Any]] = {
    "sub: empty": ("sub", ""),
    # This date is beyond the range of every calendar.
    "exp: 1e15": ("exp", 10**15),
}


@check("ROBUST-01")
def operation_takes_any_value(service: Service, world: ServiceWorld) -> None:
    """An odd value or type in any member of the operation's input gets an answer below 500.

    Over HTTP these are the members of the body, over MCP those of a tool call in a session.
    """
    token, orders = world.gateway.access_token(USER), world.gateway.orders_of(USER)
    require_served(service.serve(token), orders)
    if service.operation.kind == "mcp":
        session = session_of(service, token)
        require_served(session.call(token), orders)
        requests = {name: session.posted(token, message) for name, message in _messages(service.operation)}
    else:
        requests = dict(_bodies(service, token))

    small = {name: request for name, request in requests.items() if len(request.body) <= MOST_OCTETS}
    ask_all(service, "operation", small)


@check("ROBUST-01")
def token_may_claim_anything(service: Service, world: ServiceWorld) -> None:
    """A token signed by the core with one odd claim gets an answer below 500.

    Other rules judge whether the token is accepted. None of the claims is the Project, because a failed
    redemption could count as a gateway failure. Redemption accepts each of them as a token of the user, and
    returns all optional members.
    """
    gateway, good = world.gateway, world.gateway.access_token(USER)
    said = {"expires_at": TIMESTAMPS["utc"](time.time() + MERCHANT_TOKEN_S), "scopes": ["orders"]}
    gateway.script.always(Endpoint.REDEMPTION, Answer(members=said))
    require_served(service.serve(good), gateway.orders_of(USER))
    tokens = {name: _claiming(service, world, name) for name in CLAIMS}
    if service.operation.kind == "mcp":
        session = session_of(service, good)
        require_served(session.call(good), gateway.orders_of(USER))
        requests = {name: session.lone_call(token) for name, token in tokens.items()}
    else:
        requests = {
            name: service.request((("Authorization", f"Bearer {token}"),)) for name, token in tokens.items()
        }

    ask_all(service, "operation", requests)


def _claiming(service: Service, world: ServiceWorld, name: str) -> str:
    """A token with this odd claim in place of the usual one."""
    gateway, (claim, value) = world.gateway, CLAIMS[name]
    token = signed({**gateway.claims(USER), claim: value}, gateway.core_key)
    gateway.let_redeem(token, USER)
    service.keyring.add(Secret("access_token", token))
    return token


def _bodies(service: Service, token: str) -> Iterator[tuple[str, Request]]:
    own = service.operation.json
    if not isinstance(own, dict) or not own:
        raise LeftOut("the operation is sent no JSON object with a member that could be odd")
    for name, body in _with_one_odd_member(own):
        yield name, service.with_body(body).request((("Authorization", f"Bearer {token}"),))


def _messages(asked: Operation) -> Iterator[tuple[str, Any]]:
    """Tool calls with one odd value each, with request IDs that were not used before in the session."""
    numbers, good = count(100), called(asked.tool or "", asked.arguments)

    def message(params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": next(numbers), "method": CALL, "params": params}

    for place in ("id", "method", "params"):
        for name, value in odd.VALUES.items():
            yield f"{place}: {name}", {**message(good), place: value}
    for name, params in _with_one_odd_member(good):
        yield f"params.{name}", message(params)
    for name, arguments in _with_one_odd_member(asked.arguments):
        yield f"params.arguments.{name}", message({**good, "arguments": arguments})
    yield "a batch of one", [message(good)]
    yield "a batch of two", [message(good), message(good)]
    yield "a batch of others", [None, 1, "a", [], {}, message(good)]


def _with_one_odd_member(good: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for member in good:
        for name, value in odd.VALUES.items():
            yield f"{member}: {name}", {**good, member: value}
