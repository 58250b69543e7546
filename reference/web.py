"""Parses requests and renders answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.outcomes import Refusal, json_in

MOST_OCTETS = 64 * 1024
MOST_FIELDS = 100

Endpoint = Callable[[Request], Awaitable[Response]]
Pairs = tuple[tuple[str, str], ...]


async def body_of(request: Request) -> bytes:
    """The body; 413 if it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_OCTETS:
            raise HTTPException(413)
    return bytes(body)


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def json_of(request: Request) -> Any:
    """The JSON value of a body with a JSON media type; else None."""
    body = await body_of(request)
    return json_in(body) if media_type(request) == "application/json" else None


async def form_of(request: Request) -> Pairs | None:
    """The fields of a form in order, including repeated ones; None if it is not a form."""
    body = await body_of(request)
    if media_type(request) != "application/x-www-form-urlencoded":
        return None
    return _pairs(body)


def query_of(request: Request) -> Pairs | None:
    """The parameters of the query in order; None if they are not UTF-8, or too many."""
    return _pairs(request.scope["query_string"])


def json_answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    # ASCII only, because a lone surrogate, which JSON allows, cannot be encoded in UTF-8.
    return Response(
        json.dumps(document, separators=(",", ":")).encode("ascii"),
        status,
        headers,
        media_type="application/json",
    )


def refusal_answer(refusal: Refusal, headers: Mapping[str, str]) -> Response:
    """A refusal in the form of RFC 6749."""
    challenge = {"www-authenticate": refusal.challenge} if refusal.challenge else {}
    document = {"error": refusal.error, "error_description": refusal.description}
    return json_answer(document, refusal.status, {**headers, **challenge})


def _pairs(raw: bytes) -> Pairs | None:
    try:
        text = raw.decode("ascii")
        return tuple(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:
        return None
