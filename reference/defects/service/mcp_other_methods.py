"""MCP services that check the token of a GET or DELETE less strictly than that of a POST."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.defects.service.signatures import unverified_claims
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION
from gateproof.reference.service.policy.validation import (
    CLAIM_CHECKS,
    ClaimCheck,
    ClaimFacts,
    Jwk,
    signed_claims,
)

_, AUDIENCE, EXPIRY = CLAIM_CHECKS
_LENIENT = ContextVar("lenient", default=False)
_AUTHORIZATION = b"authorization"
_PARAMETERS = ("access_token", "token")


def a_stream_for_listeners(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """A GET that passes the token check opens a stream."""
    if (
        asked.method != "GET"
        or asked.path != "/mcp"
        or answered.status != 405
        or SESSION not in asked.headers
    ):
        return answered
    return Answered(status=200, headers=(("content-type", "text/event-stream"),), body=b": welcome\n\n")


def noticing(method: str) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """Makes known to the token checks whether the request has this method; GET opens a stream."""

    def around(app: ASGIApp, backend: Backend) -> ASGIApp:
        streaming = altering_answers(a_stream_for_listeners)(app, backend)

        async def noticed(scope: Scope, receive: Receive, send: Send) -> None:
            _LENIENT.set(scope["method"] == method)
            await streaming(scope, receive, send)

        return noticed

    return around


def lacking(method: str, honest: ClaimCheck) -> dict[str, Any]:
    """This check is skipped if the request has this method."""

    def wrong(facts: ClaimFacts) -> bool:
        return _LENIENT.get() or honest(facts)

    return {"around": noticing(method), "claim_checks": instead(CLAIM_CHECKS, honest, wrong)}


def unsigned(method: str) -> dict[str, Any]:
    """The token is decoded without verification if the request has this method."""

    def claims(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        return unverified_claims(token, keys) if _LENIENT.get() else signed_claims(token, keys)

    return {"around": noticing(method), "signed_claims": claims}


def in_the_query(method: str) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """`req.query.access_token ?? req.query.token`, if the request has this method."""

    def around(app: ASGIApp, backend: Backend) -> ASGIApp:
        streaming = altering_answers(a_stream_for_listeners)(app, backend)

        async def read(scope: Scope, receive: Receive, send: Send) -> None:
            query = parse_qs(scope["query_string"].decode("latin-1"))
            token = next((query[name][0] for name in _PARAMETERS if name in query), None)
            if scope["method"] == method and scope["path"] == "/mcp" and token is not None:
                scope = {
                    **scope,
                    "headers": [*scope["headers"], (_AUTHORIZATION, f"Bearer {token}".encode())],
                }
            await streaming(scope, receive, send)

        return read

    return around


DEFECTS = (
    mcp_defect(
        "stream-for-any-signature (CHAL-04): For a GET stream, the service does not verify the signature of "
        "the token.",
        **unsigned("GET"),
    ),
    mcp_defect(
        "stream-for-any-audience (CHAL-06): For a GET stream, the service does not check the audience of the "
        "token.",
        **lacking("GET", AUDIENCE),
    ),
    mcp_defect(
        "stream-for-an-expired-token (CHAL-07): For a GET stream, the service does not check the expiry of "
        "the token.",
        **lacking("GET", EXPIRY),
    ),
    mcp_defect(
        "stream-for-a-token-in-the-address (CHAL-03): For a GET stream, the service accepts a token in the "
        "query, because EventSource cannot set headers.",
        around=in_the_query("GET"),
    ),
    mcp_defect(
        "session-ended-with-any-signature (CHAL-04): For the end of a session, the service does not verify "
        "the signature of the token.",
        **unsigned("DELETE"),
    ),
    mcp_defect(
        "session-ended-with-any-audience (CHAL-06): For the end of a session, the service does not check the "
        "audience of the token.",
        **lacking("DELETE", AUDIENCE),
    ),
    mcp_defect(
        "session-ended-with-an-expired-token (CHAL-07): For the end of a session, the service does not check "
        "the expiry of the token.",
        **lacking("DELETE", EXPIRY),
    ),
    mcp_defect(
        "session-ended-with-a-token-in-the-address (CHAL-03): For the end of a session, the service accepts "
        "a token in the query.",
        around=in_the_query("DELETE"),
    ),
)
