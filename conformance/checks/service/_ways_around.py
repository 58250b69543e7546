"""Other methods and paths that may lead to the operation, and what their answers may not show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._altered_tokens import USER
from gateproof.conformance.checks.service._failing_parties import shows_orders
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire.client import asked_to_wait
from gateproof.conformance.wire.exchange import Exchange, Request

# None of these methods deletes anything, whatever handles them. Guards often let OPTIONS pass, for browsers.
_METHODS = ("GET", "POST", "PUT", "PATCH", "OPTIONS")
# Over MCP, a GET opens a stream and a DELETE ends the session; other checks send them.
_MCP_METHODS = ("PUT", "PATCH", "OPTIONS")
# Appended to a path: a router may ignore these parts while a guard does not, or the reverse.
_SUFFIXES = ("/", ";a=b", ".json", "%20", "?gateproof=1", "//", "/.")
# Paths where servers often have a second MCP endpoint.
_OTHER_ENDPOINTS = (
    "/",
    "/mcp",
    "/mcp/v1",
    "/v1/mcp",
    "/api/mcp",
    "/sse",
    "/message",
    "/messages",
    "/rpc",
    "/jsonrpc",
)
# Paths where a service often offers the orders of its MCP tool over HTTP as well.
_PAGES = ("/orders", "/v1/orders", "/api/orders", "/api/v1/orders", "/ucp/orders", "/ucp/v1/orders")
# Other versions of an API often stay in service: the first segment of a path, or none.
_VERSIONS = ("", "/v1", "/v2", "/api", "/internal")
_VERSION = re.compile(r"/(?:v\d+|api|internal)(?=/.)")
ANOTHER_WAY = "operation by another method or path"


def _by_another_method(request: Request) -> Iterator[Request]:
    for method in _METHODS:
        if method == "GET":
            kept = tuple(pair for pair in request.headers if pair[0] != "Content-Type")
            yield replace(request, method=method, headers=kept, body=b"")
        else:
            yield replace(request, method=method)


def _by_another_spelling(request: Request) -> Iterator[Request]:
    parts = urlsplit(request.url)
    path = parts.path or "/"
    escaped = f"%{ord(path[-1]):02X}" if path[-1].isalnum() else ""
    with_suffix = (f"{path}{more}" for more in _SUFFIXES)
    bare = _VERSION.sub("", path, count=1) if _VERSION.match(path) else path
    versions = (f"{version}{bare}" for version in _VERSIONS if f"{version}{bare}" != path)
    with_prefix = (f"/{path}", f"/.{path}", f"/gateproof/..{path}", *versions)
    for other in (*with_suffix, *with_prefix, path.upper(), path.title(), f"{path[:-1]}{escaped}"):
        # The query of the operation comes last; the spelling may already contain a query.
        query = f"{'&' if '?' in other else '?'}{parts.query}" if parts.query else ""
        yield replace(request, url=f"{parts.scheme}://{parts.netloc}{other}{query}")


def other_ways(session: ServiceSession, token: str | None) -> Iterator[Request]:
    """A tool call at other paths and by other methods, in this session."""
    own = session.lone_call(token)
    elsewhere = {request.url: request for request in (*_by_another_spelling(own), *_at_other_endpoints(own))}
    by_method = {method: replace(own, method=method) for method in _MCP_METHODS}
    yield from session.each_by_itself(elsewhere | by_method).values()


def over_http(session: ServiceSession, token: str | None) -> Iterator[Request]:
    """Requests for the orders at common paths beside an MCP tool, outside of its session."""
    bearer = (("Authorization", f"Bearer {token}"),) if token is not None else ()
    for path in _PAGES:
        url = urlsplit(session.url)._replace(path=path, query="").geturl()
        headers = (("Accept", "application/json"), *bearer)
        yield Request(method="GET", url=url, headers=headers)
        yield Request(
            method="POST", url=url, headers=(*headers, ("Content-Type", "application/json")), body=b"{}"
        )


def _at_other_endpoints(request: Request) -> Iterator[Request]:
    parts = urlsplit(request.url)
    for path in _OTHER_ENDPOINTS:
        if path != parts.path.rstrip("/"):
            yield replace(request, url=parts._replace(path=path, query="").geturl())


WAYS: dict[str, Callable[[Request], Iterator[Request]]] = {
    "another-method": _by_another_method,
    "another-spelling": _by_another_spelling,
}


def session_with_orders(service: Service, world: ServiceWorld, token: str) -> ServiceSession:
    """A session in which the user's orders were shown."""
    session = session_of(service, token)
    require_served(session.call(token), world.gateway.orders_of(USER))
    return session


def bring_no_orders(
    world: ServiceWorld, answers: Iterable[Exchange], *, with_what: str = "without a token"
) -> None:
    """Expects that no answer to a caller without a good token shows orders; requires at least one answer."""
    known: list[Exchange] = []
    for answer in answers:
        request = answer.request
        expect.that(
            not shows_orders(answer, world, USER),
            f"{answer.step}: {request.method} {urlsplit(request.url).path} {with_what}",
            expected="an answer without a user's orders",
            got=f"{answer.outcome()} with orders",
            exchange=answer,
        )
        known.append(answer)
    limited = sum(asked_to_wait(answer.answer) is not None for answer in known)
    if limited:
        raise LeftOut(f"the service limits such requests: {limited} of {len(known)} told nothing")
    answered = any(answer.status is not None for answer in known)
    require.that(answered, ANOTHER_WAY, expected="an answer to one of them", got="none")
