"""Equivalent forms of a request: another Accept header, other case of header names, a chunked body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Exchange, Request

Form = Callable[[Request], Request]


def _accepting(media_type: str | None) -> Form:
    def form(request: Request) -> Request:
        rest = tuple(pair for pair in request.headers if pair[0].lower() != "accept")
        if media_type is None:
            return replace(request, headers=rest, accept=False)
        return replace(request, headers=(*rest, ("Accept", media_type)))

    return form


def _named(spelt: Callable[[str], str]) -> Form:
    return lambda request: replace(
        request, headers=tuple((spelt(name), value) for name, value in request.headers)
    )


# Requests for no particular media type. The specification's requests have no Accept header; without one, any
# media type is acceptable (RFC 9110 section 12.5.1).
ACCEPTS: Mapping[str, Form] = {"accept-anything": _accepting("*/*"), "no-accept": _accepting(None)}
# Header names are case-insensitive (RFC 9110 section 5.1).
NAME_CASES: Mapping[str, Form] = {"lower-case": _named(str.lower), "upper-case": _named(str.upper)}


def chunked(request: Request) -> Request:
    """The request with a chunked body, as clients send it that stream it (RFC 9112 section 7.1)."""
    if not request.body:
        return request
    return replace(request, headers=(*request.headers, ("Transfer-Encoding", "chunked")))


def unless_chunks_refused(answer: Exchange) -> Exchange:
    """An answer to a chunked request; left out if the server refuses it.

    A server may require Content-Length, or speak HTTP/1.0, which knows no chunks (RFC 9112 section 6.1).
    Others read as much as Content-Length announces: to them, the body is an empty one.
    """
    if answer.status == 501 or (answer.status is not None and 400 <= answer.status < 500):
        raise LeftOut("the server takes no chunked request")
    return answer


def with_request_form(world: World, form: Form) -> World:
    """The same world, whose agents and backends send their requests in another form."""
    return replace(world, gateway=world.gateway.in_form(form))
