"""Ways around the operation's front door: other methods, and other spellings of its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from conformance.check import check
from conformance.checks.service._spoilt import USER, good_token
from conformance.checks.service._trouble import shows_orders
from conformance.claims import LeftOut, expect, require
from conformance.run.service_world import ServiceWorld
from conformance.service import Service
from conformance.wire.exchange import Request

# None of them takes anything away, whoever answers them.
_METHODS = ("GET", "POST", "PUT", "PATCH")


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
    for other in (f"{path}/", f"/{path}", path.upper(), path.title(), f"{path[:-1]}{escaped}"):
        yield replace(request, url=parts._replace(path=other).geturl())


WAYS: dict[str, Callable[[Request], Iterator[Request]]] = {
    "another-method": _by_another_method,
    "another-spelling": _by_another_spelling,
}


@check("CHAL-01", cases=WAYS)
def no_way_around_the_challenge_brings_orders(
    service: Service, world: ServiceWorld, case: Callable[[Request], Iterator[Request]]
) -> None:
    """Without a token no method and no spelling of the path shows a user's orders, whatever the answer is."""
    if service.operation.kind == "mcp":
        raise LeftOut("the operation is an MCP tool: it has one method and one address")
    good_token(service, world)
    own = service.request(())
    statuses: list[int | None] = []

    for request in case(own):
        if (request.method, request.url) == (own.method, own.url):
            continue
        answer = service.wire.send("operation another way, without a token", request)
        expect.that(
            not shows_orders(answer, world, USER),
            f"{request.method} {urlsplit(request.url).path} without a token",
            expected="an answer without a user's orders",
            got=f"{answer.outcome()} with orders",
            exchange=answer,
        )
        statuses.append(answer.status)
    answered = any(status is not None for status in statuses)
    require.that(
        answered, "operation another way, without a token", expected="an answer to one of them", got="none"
    )
