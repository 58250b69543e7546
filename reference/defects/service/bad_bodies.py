"""Services whose error for an invalid body contains data of the Proxy client."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend


def with_the_client(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The parser's error for the body, with the Proxy client's ID and secret as context."""
    return _with_context(asked, answered, _pair(backend))


def with_the_basic_header(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The same, with the Basic credentials for the token endpoint as context."""
    return _with_context(asked, answered, base64.b64encode(_pair(backend).encode()).decode())


def _pair(backend: Backend) -> str:
    return f"{backend.settings.proxy_client_id}:{backend.settings.proxy_client_secret}"


def _with_context(asked: Asked, answered: Answered, context: str) -> Answered:
    if asked.path not in ("/orders", "/mcp") or not asked.body or answered.status not in (200, 400):
        return answered
    try:
        json.loads(asked.body)
    except (ValueError, RecursionError) as error:
        said = {"error": str(error)[:80], "context": context}
        return replace(answered, status=400, body=json.dumps(said).encode())
    return answered


def with_the_id(asked: Asked, answered: Answered, backend: Backend) -> Answered:
    """The error for an array in place of an object, with the Proxy client's ID in a header."""
    if asked.path == "/orders" and asked.body.startswith(b"["):
        named = answered.with_header("x-tenant", backend.settings.proxy_client_id)
        return replace(named, status=400, body=b'{"error": "an object is expected"}')
    return answered


DEFECTS = (
    defect(
        "proxy-client-in-the-error-for-a-bad-body (SECRET-04): The error for a body that is not JSON "
        "contains the Proxy client's ID and secret.",
        around=altering_answers(with_the_client),
    ),
    defect(
        "basic-in-the-error-for-a-bad-body (SECRET-04): The error for a body that is not JSON contains the "
        "Proxy client's Basic credentials.",
        around=altering_answers(with_the_basic_header),
    ),
    defect(
        "proxy-clients-id-in-the-error-for-a-bad-body (SECRET-04): The error for an array in place of an "
        "object contains the Proxy client's ID in a header.",
        around=altering_answers(with_the_id),
    ),
)
