"""Variations of a request, each with one odd property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.wire.exchange import Request


def variations(good: Request, group: str) -> Mapping[str, Request]:
    """The variations of a request in one group."""
    match group:
        case "bodies":
            return {name: replace(good, body=body) for name, body in odd.BODIES.items()}
        case "media types":
            kinds = {name: with_header(good, "Content-Type", kind) for name, kind in odd.MEDIA_TYPES.items()}
            return kinds | {"none": replace(good, headers=_without(good, "Content-Type"))}
        case "headers":
            return {name: _with_headers(good, headers) for name, headers in odd.HEADERS.items()}
        case "methods":
            # A server may answer an unknown method without reading the body and close; the TCP reset may then
            # arrive before the answer. So other methods have no body.
            asked = {
                method: replace(good, method=method, body=good.body if method == good.method else b"")
                for method in (*odd.METHODS, "GET", "POST")
            }
            # TRACE echoes the request, so it has no credentials (RFC 9110 section 9.3.8).
            return asked | {"TRACE": replace(asked["TRACE"], headers=())}
        case _:
            path = target_of(good.url).partition(b"?")[0]
            return {
                name: replace(good, target=path + b"?" + query) for name, query in odd.ODD_QUERIES.items()
            }


def with_header(good: Request, name: str, value: str) -> Request:
    return replace(good, headers=(*_without(good, name), (name, value)))


def _with_headers(good: Request, headers: Sequence[tuple[str, str]]) -> Request:
    kept = good
    for name, _ in headers:
        kept = replace(kept, headers=_without(kept, name))
    return replace(kept, headers=(*kept.headers, *headers))


def _without(good: Request, header: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in good.headers if name.lower() != header.lower())


def target_of(url: str) -> bytes:
    parts = urlsplit(url)
    return ((parts.path or "/") + (f"?{parts.query}" if parts.query else "")).encode("ascii")
