"""The operation by other methods, other spellings of its path, and other messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.checks.service._failing_parties import shows_orders
from gateproof.conformance.kit.service.mcp_session import LISTS, ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire.exchange import Exchange, Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.keys import new_key, signed

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
_ANOTHER_WAY = "operation by another method or path"


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
    with_prefix = (f"/{path}", f"/.{path}", f"/gateproof/..{path}")
    for other in (*with_suffix, *with_prefix, path.upper(), path.title(), f"{path[:-1]}{escaped}"):
        # The query of the operation comes last; the spelling may already contain a query.
        query = f"{'&' if '?' in other else '?'}{parts.query}" if parts.query else ""
        yield replace(request, url=f"{parts.scheme}://{parts.netloc}{other}{query}")


def _other_ways(session: ServiceSession, token: str | None) -> Iterator[Request]:
    """A tool call at other paths and by other methods, in this session."""
    own = session.lone_call(token)
    elsewhere = {request.url: request for request in (*_by_another_spelling(own), *_at_other_endpoints(own))}
    by_method = {method: replace(own, method=method) for method in _MCP_METHODS}
    yield from session.each_by_itself(elsewhere | by_method).values()


def _at_other_endpoints(request: Request) -> Iterator[Request]:
    parts = urlsplit(request.url)
    for path in _OTHER_ENDPOINTS:
        if path != parts.path.rstrip("/"):
            yield replace(request, url=parts._replace(path=path, query="").geturl())


WAYS: dict[str, Callable[[Request], Iterator[Request]]] = {
    "another-method": _by_another_method,
    "another-spelling": _by_another_spelling,
}


@check("CHAL-01", cases=WAYS)
def no_way_around_the_challenge_brings_orders(
    service: Service, world: ServiceWorld, case: Callable[[Request], Iterator[Request]]
) -> None:
    """Without a token, no method and no spelling of the path shows a user's orders."""
    if service.operation.kind == "mcp":
        raise LeftOut("the operation is an MCP tool, which has one method; other checks test it")
    good_token(service, world)
    own = service.request(())
    others = (each for each in case(own) if (each.method, each.url) != (own.method, own.url))

    _bring_no_orders(world, (service.wire.send(_ANOTHER_WAY, request) for request in others))


@check("CHAL-04", cases=WAYS)
def no_way_around_takes_a_forged_token(
    service: Service, world: ServiceWorld, case: Callable[[Request], Iterator[Request]]
) -> None:
    """A token under an unknown key shows no orders by any method or spelling of the path.

    Redemption would accept it, so a service that checks tokens on one path only is detected. A service that
    limits bad tokens may ask its caller to wait.
    """
    if service.operation.kind == "mcp":
        raise LeftOut("the operation is an MCP tool, which has one method; other checks test it")
    good_token(service, world)
    forged = _forged(service, world)
    own = service.request((("Authorization", f"Bearer {forged}"),))

    # The protected path is one of the requests, and comes first.
    _bring_no_orders(
        world,
        (service.wire.send_once(_ANOTHER_WAY, request) for request in (own, *case(own))),
        with_what="with a forged token",
    )


@check("CHAL-01")
def no_way_into_a_session_brings_orders(service: Service, world: ServiceWorld) -> None:
    """Without a token, a tool call shows no orders by any method or spelling of the path.

    The call is made in a session started with a good token, and without a session.
    """
    session = _session_with_orders(service, world, world.gateway.access_token(USER))
    ways = (*_other_ways(session, None), *_other_ways(session.without_id(), None))

    _bring_no_orders(world, (service.wire.send(_ANOTHER_WAY, request) for request in ways))


@check("CHAL-04")
def no_way_into_a_session_takes_a_forged_token(service: Service, world: ServiceWorld) -> None:
    """A tool call with a token under an unknown key shows no orders by any method or spelling of the path.

    The call is made in a session started with a good token, and without a session. Redemption would accept
    the token.
    """
    session = _session_with_orders(service, world, world.gateway.access_token(USER))
    forged = _forged(service, world)
    own = (session.lone_call(forged), session.without_id().lone_call(forged))
    ways = (*own, *_other_ways(session, forged), *_other_ways(session.without_id(), forged))

    _bring_no_orders(
        world,
        (service.wire.send_once(_ANOTHER_WAY, request) for request in ways),
        with_what="with a forged token",
    )


@check("CHAL-01")
def no_batch_brings_orders(service: Service, world: ServiceWorld) -> None:
    """Without a token, a batch with a tool call shows no orders, with and without a session.

    Only some versions of MCP have batches.
    """
    token = world.gateway.access_token(USER)
    sessions = tuple(_session_with_orders(service, world, token).in_each_version())
    batches = (each.batch(None) for own in sessions for each in (own, own.without_id()))

    _bring_no_orders(world, (service.wire.send(_ANOTHER_WAY, request) for request in batches))
    answers = (service.wire.send("operation in a batch", each.batch(token)) for each in sessions)
    if not any(shows_orders(answer, world, USER) for answer in answers):
        raise LeftOut("the server accepts no tool call in a batch, not even with a good token")


@check("CHAL-01")
def what_a_server_offers_besides_is_not_for_everybody(service: Service, world: ServiceWorld) -> None:
    """Without a token, no list, resource or prompt of an MCP server shows a user's orders."""
    token = world.gateway.access_token(USER)
    answers = tuple(_session_with_orders(service, world, token).offered_without_token(token))

    _bring_no_orders(world, answers)
    if len(answers) == len(LISTS):
        raise LeftOut("the server lists no resource and no prompt, not even with a good token")


def _forged(service: Service, world: ServiceWorld) -> str:
    """A token under an unknown key, which redemption accepts."""
    gateway = world.gateway
    forged = signed(gateway.claims(USER), new_key(gateway.core_key.algorithm), kid=gateway.core_key.kid)
    service.keyring.add(Secret("access_token", forged))
    gateway.let_redeem(forged, USER)
    return forged


def _session_with_orders(service: Service, world: ServiceWorld, token: str) -> ServiceSession:
    """A session in which the user's orders were shown."""
    session = session_of(service, token)
    require_served(session.call(token), world.gateway.orders_of(USER))
    return session


def _bring_no_orders(
    world: ServiceWorld, answers: Iterable[Exchange], *, with_what: str = "without a token"
) -> None:
    """Expects that no answer to a caller without a good token shows orders; requires at least one answer."""
    statuses: list[int | None] = []
    for answer in answers:
        request = answer.request
        expect.that(
            not shows_orders(answer, world, USER),
            f"{answer.step}: {request.method} {urlsplit(request.url).path} {with_what}",
            expected="an answer without a user's orders",
            got=f"{answer.outcome()} with orders",
            exchange=answer,
        )
        statuses.append(answer.status)
    answered = any(status is not None for status in statuses)
    require.that(answered, _ANOTHER_WAY, expected="an answer to one of them", got="none")
