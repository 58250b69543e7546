"""The operation with names and values in it that the agent's token does not give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote, urlsplit

from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret

# What an answer is to, for messages.
Named = tuple[str, Exchange]


def asked_with(service: Service, token: str, where: str, said: Mapping[str, str]) -> list[Named]:
    """The operation with each of these names and values: in a header, the query, the path or the message."""
    service.keyring.add(Secret("access_token", token))
    return list(_WAYS[where](service, token, said))


def _in_headers(service: Service, token: str, said: Mapping[str, str]) -> Iterator[Named]:
    for name, value in said.items():
        yield f"a header {name}", service.serve(token, ((name, value),))


def _in_the_query(service: Service, token: str, said: Mapping[str, str]) -> Iterator[Named]:
    mark, bearer = "&" if "?" in service.operation.path else "?", f"Bearer {token}"
    for name, value in said.items():
        yield f"a parameter {name}", service.operate(bearer, query=f"{mark}{name}={quote(value)}")


def _in_the_path(service: Service, token: str, said: Mapping[str, str]) -> Iterator[Named]:
    """The name as a part of the path, only by GET, which changes nothing."""
    if service.operation.kind == "mcp":
        raise LeftOut("the operation is an MCP tool, which has one path")
    request = service.request((("Authorization", f"Bearer {token}"),))
    parts, value = urlsplit(request.url), quote(next(iter(said.values())))
    kept = tuple(pair for pair in request.headers if pair[0] != "Content-Type")
    path = parts.path.rstrip("/")
    for other in (f"{path}/{value}", f"/users/{value}{path}"):
        url = parts._replace(path=other).geturl()
        asked = Request(method="GET", url=url, headers=kept)
        yield "the path", service.wire.send("operation by another path", asked)


def _in_a_message(service: Service, token: str, said: Mapping[str, str]) -> Iterator[Named]:
    """The name in the arguments and in `_meta` of a tool call, or among the members of a JSON body."""
    asked = service.operation
    if asked.kind != "mcp":
        own = {} if asked.json is None else asked.json
        if asked.method == "GET" or not isinstance(own, dict):
            raise LeftOut("the operation sends no JSON object that could name a user")
        for name, value in said.items():
            yield f"a member {name}", service.with_body({**own, name: value}).serve(token)
        return
    session, tool = session_of(service, token), asked.tool or ""
    for name, value in said.items():
        params = mcp.called(tool, {**asked.arguments, name: value})
        yield f"an argument {name}", session.ask("tools/call", params, token)
    yield "_meta", session.ask("tools/call", mcp.called(tool, asked.arguments, said), token)


_WAYS: Mapping[str, Callable[[Service, str, Mapping[str, str]], Iterator[Named]]] = {
    "header": _in_headers,
    "query": _in_the_query,
    "path": _in_the_path,
    "message": _in_a_message,
}
