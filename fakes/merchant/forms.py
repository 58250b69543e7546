"""Strict and lossless parsing of form-encoded parameters, from a query or a body."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from gateproof.fakes.merchant.refusal import Refused

LARGEST_BODY = 128 * 1024
# RFC 8693 and RFC 8707 allow several of these.
REPEATABLE = frozenset({"resource", "audience"})


def read_parameters(encoded: bytes) -> dict[str, list[str]]:
    """Decodes parameters. Bytes that are not UTF-8 are kept, so that they can be returned unchanged."""
    try:
        pairs = parse_qsl(
            encoded.decode("latin-1"), keep_blank_values=True, errors="surrogateescape", max_num_fields=200
        )
    except ValueError:
        raise Refused("invalid_request", "too many parameters") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    doubled = [name for name, values in found.items() if len(values) > 1 and name not in REPEATABLE]
    if doubled:
        raise Refused("invalid_request", "a parameter is repeated")
    return found


async def read_form(request: Request) -> dict[str, list[str]]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        raise Refused("invalid_request", "expected application/x-www-form-urlencoded")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise Refused("invalid_request", "the body is too large", status=413)
    return read_parameters(bytes(body))


def shown(parameters: dict[str, list[str]], *left_out: str) -> dict[str, str]:
    """The parameters for a record, each as one text."""
    return {name: " ".join(values) for name, values in parameters.items() if name not in left_out}


def single(parameters: dict[str, list[str]], name: str) -> str | None:
    """The value of a parameter; an empty value counts as missing (RFC 6749 section 3.1)."""
    values = parameters.get(name)
    return values[0] or None if values else None
