"""MCP services that trust a session in place of a token, leak the merchant token, or fail on bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.defects.service.secrets import leaking, merchant_token
from gateproof.reference.defects.service.signatures import unverified_claims
from gateproof.reference.defects.service.users import cached_by
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.policy.validation import (
    CLAIM_CHECKS,
    ClaimCheck,
    ClaimFacts,
    Jwk,
    signed_claims,
)
from gateproof.reference.service.wire import Outgoing

AUTHORIZATION = b"authorization"
ISSUER, AUDIENCE, EXPIRY = CLAIM_CHECKS
Notified = dict[str, Any]


def by_session(*, only_without_a_token: bool) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """Every call in a session uses the token that began the session."""

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        tokens: dict[bytes, bytes] = {}

        async def remembering(scope: Scope, receive: Receive, send: Send) -> None:
            headers = dict(scope["headers"])
            begun = tokens.get(headers.get(SESSION.encode(), b""))
            if begun is not None and not (only_without_a_token and AUTHORIZATION in headers):
                rest = [pair for pair in scope["headers"] if pair[0] != AUTHORIZATION]
                scope = {**scope, "headers": [*rest, (AUTHORIZATION, begun)]}

            async def noting(message: Message) -> None:
                for name, value in message.get("headers", ()):
                    if name.lower() == SESSION.encode():
                        tokens[value] = headers.get(AUTHORIZATION, b"")
                await send(message)

            await app(scope, receive, noting)

        return remembering

    return around


_IN_SESSION = ContextVar("within a session", default=False)


def noticing_sessions(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """Makes known to the token checks whether a request is in a session."""

    async def noticing(scope: Scope, receive: Receive, send: Send) -> None:
        _IN_SESSION.set(SESSION.encode() in dict(scope["headers"]))
        await app(scope, receive, send)

    return noticing


def only_at_session_start(honest: ClaimCheck) -> dict[str, Any]:
    """This check is skipped for requests in a session."""

    def wrong(facts: ClaimFacts) -> bool:
        return _IN_SESSION.get() or honest(facts)

    return {"around": noticing_sessions, "claim_checks": instead(CLAIM_CHECKS, honest, wrong)}


def signed_at_session_start(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The signature is not verified for requests in a session."""
    return unverified_claims(token, keys) if _IN_SESSION.get() else signed_claims(token, keys)


def method_of(asked: Asked) -> str:
    try:
        return str(json.loads(asked.body)["method"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def sse_event(message: Notified) -> bytes:
    return f"event: message\ndata: {json.dumps(message)}\n\n".encode()


def _notification(token: str) -> Notified:
    params = {"level": "debug", "logger": "upstream", "data": f"calling with {token}"}
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}


def in_meta(answered: Answered, token: str) -> Answered:
    text = answered.body.decode().replace(
        '"isError": false', f'"isError": false, "_meta": {{"up": "{token}"}}'
    )
    return replace(answered, body=text.encode())


def in_a_notification(answered: Answered, token: str) -> Answered:
    return replace(answered, body=sse_event(_notification(token)) + answered.body)


def leaking_merchant_token(said: Callable[[Asked, Answered, str], Answered]) -> dict[str, Any]:
    """The merchant token of the last call is added to other answers."""
    last: list[str] = []

    def noted(answered: Answered, token: str) -> Answered:
        last[:] = [token]
        return answered

    wrong = leaking(merchant_token, noted)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        return said(asked, answered, last[-1]) if last and asked.path == "/mcp" else answered

    return {
        **wrong,
        "around": lambda app, backend: altering_answers(change)(wrong["around"](app, backend), backend),
    }


def in_a_resource(asked: Asked, answered: Answered, token: str) -> Answered:
    """A resource shows the state of the connection to the merchant."""
    uri = "debug://upstream"
    results = {
        "resources/list": {"resources": [{"uri": uri, "name": "upstream"}]},
        "resources/read": {"contents": [{"uri": uri, "mimeType": "text/plain", "text": f"token: {token}"}]},
    }
    result = results.get(method_of(asked))
    if result is None or answered.status != 200:
        return answered
    body = json.dumps({"jsonrpc": "2.0", "id": json.loads(asked.body).get("id"), "result": result})
    return replace(answered, body=body.encode())


def in_the_stream(asked: Asked, answered: Answered, token: str) -> Answered:
    """The server's GET stream contains its own log notifications."""
    if asked.method != "GET" or answered.status == 401:
        return answered
    headers = (("content-type", "text/event-stream"),)
    return replace(answered, status=200, headers=headers, body=sse_event(_notification(token)))


def stream_for_everybody(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Each route has its own token check, and the GET stream has none."""
    if asked.method != "GET" or asked.path != "/mcp" or SESSION not in asked.headers:
        return answered
    return Answered(status=200, headers=(("content-type", "text/event-stream"),), body=b": welcome\n\n")


def body_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """In a session, a body that is not a JSON-RPC message ends in 500."""
    broken = asked.path == "/mcp" and asked.method == "POST" and answered.status == 400
    return replace(answered, status=500, body=b"{}") if broken and SESSION in asked.headers else answered


def params_taken_for_granted(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """`message["params"]["name"]`, without a type check."""
    if method_of(asked) != "tools/call" or answered.status != 200:
        return answered
    fits = isinstance(json.loads(asked.body).get("params"), dict)
    return answered if fits else replace(answered, status=500, body=b"{}")


def ids_used_once() -> Callable[[Asked, Answered, Backend], Answered]:
    """An ID used before in the session is refused; a call without a JSON content type ends in 500."""
    used: set[tuple[str, str]] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        session = asked.headers.get(SESSION)
        if session is None or method_of(asked) != "tools/call" or answered.status != 200:
            return answered
        number = (session, repr(json.loads(asked.body).get("id")))
        if number in used:
            return replace(answered, status=400, body=b"{}")
        used.add(number)
        labelled = asked.headers.get("content-type", "").startswith("application/json")
        return answered if labelled else replace(answered, status=500, body=b"{}")

    return change


def ended_by_everybody(app: ASGIApp, _backend: Backend) -> ASGIApp:
    """Ends a session without a token."""
    ended: set[bytes] = set()

    async def around(scope: Scope, receive: Receive, send: Send) -> None:
        session = dict(scope["headers"]).get(SESSION.encode())
        if session is not None and scope["method"] == "DELETE":
            ended.add(session)
        if session not in ended:
            await app(scope, receive, send)
            return
        status = 204 if scope["method"] == "DELETE" else 404
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return around


def first_token_of_the_session() -> Callable[[CallFacts], Outgoing]:
    """The tools of a session use the first token of the user for ever."""
    first: dict[tuple[str, ...], str] = {}

    def redemption_request(facts: CallFacts) -> Outgoing:
        whose = (str(facts.claims.get("sub")), *facts.asked.headers_named(SESSION))
        token = first.setdefault(whose, facts.token)
        return redemption.redemption_request(replace(facts, token=token))

    return redemption_request


def of_the_session(facts: CallFacts) -> tuple[str, ...]:
    """The cache key of a merchant token: the gateway access token and the session."""
    return (facts.token, *facts.asked.headers_named(SESSION))


DEFECTS = (
    mcp_defect(
        "session-instead-of-a-token (CHAL-01 CHAL-10): In a session, the service serves a call without a "
        "token with the token that began the session.",
        around=by_session(only_without_a_token=True),
    ),
    mcp_defect(
        "stream-for-everybody (CHAL-01): The service opens the stream of a session without a token.",
        around=altering_answers(stream_for_everybody),
    ),
    mcp_defect(
        "session-ended-by-everybody (CHAL-01): The service ends a session without a token.",
        around=ended_by_everybody,
    ),
    mcp_defect(
        "session-before-the-token (BACK-10 BACK-04 CHAL-01 CHAL-04 CHAL-05 CHAL-06 CHAL-10): In a session, "
        "the service serves every call with the token that began the session.",
        around=by_session(only_without_a_token=False),
    ),
    mcp_defect(
        "signature-checked-at-the-beginning (CHAL-04 CHAL-10): In a session, the service does not verify the "
        "signature of a token.",
        around=noticing_sessions,
        signed_claims=signed_at_session_start,
    ),
    mcp_defect(
        "issuer-checked-at-the-beginning (CHAL-05): In a session, the service does not check the issuer of a "
        "token.",
        **only_at_session_start(ISSUER),
    ),
    mcp_defect(
        "audience-checked-at-the-beginning (CHAL-06 CHAL-10): In a session, the service does not check the "
        "audience of a token.",
        **only_at_session_start(AUDIENCE),
    ),
    mcp_defect(
        "expiry-checked-at-the-beginning (CHAL-07 CHAL-10): In a session, the service does not check the "
        "expiry of a token.",
        **only_at_session_start(EXPIRY),
    ),
    mcp_defect(
        "merchant-token-in-the-meta (SECRET-02): The tool result contains the merchant token in its _meta.",
        **leaking(merchant_token, in_meta),
    ),
    mcp_defect(
        "merchant-token-in-a-notification (SECRET-02): A log notification before the tool result contains "
        "the merchant token.",
        **leaking(merchant_token, in_a_notification),
    ),
    mcp_defect(
        "merchant-token-in-a-resource (SECRET-02): An MCP resource shows the merchant token of the last "
        "call.",
        **leaking_merchant_token(in_a_resource),
    ),
    mcp_defect(
        "merchant-token-in-the-stream (SECRET-02): The server's GET stream contains the merchant token of "
        "the last call.",
        **leaking_merchant_token(in_the_stream),
    ),
    mcp_defect(
        "first-token-of-a-session-redeemed (BACK-04): In a session, the service redeems the user's first "
        "token in every call, whatever token the call has.",
        redemption_request=first_token_of_the_session(),
    ),
    mcp_defect(
        "merchant-token-kept-for-a-session (BACK-11): In a session, the service uses the merchant token of a "
        "gateway access token for an hour, whatever its expires_at is.",
        **cached_by(of_the_session),
    ),
    mcp_defect(
        "body-taken-for-granted-in-a-session (ROBUST-01): In a session, a body that is not a JSON-RPC "
        "message ends in 500.",
        around=altering_answers(body_taken_for_granted),
    ),
    mcp_defect(
        "label-taken-for-granted-of-numbers-used-once (ROBUST-01): The service refuses an ID that was used "
        "before in the session, and a tool call without a JSON content type ends in 500.",
        around=altering_answers(ids_used_once()),
    ),
    mcp_defect(
        "params-taken-for-granted (ROBUST-01): A tool call whose params are not a JSON object ends in 500.",
        around=altering_answers(params_taken_for_granted),
    ),
)
