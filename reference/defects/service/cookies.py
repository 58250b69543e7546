"""Services that accept a session cookie in place of a token."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.service.backend import Backend

AUTHORIZATION = b"authorization"
_OURS = re.compile(rb"(?:^|; )sid=(\w+)")


def by_cookie(*, only_without_a_token: bool) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """`session["user"] = user` after a valid token, and a token check that uses the session first."""

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        tokens: dict[bytes, bytes] = {}

        async def remembering(scope: Scope, receive: Receive, send: Send) -> None:
            headers = dict(scope["headers"])
            ours = _OURS.search(headers.get(b"cookie", b""))
            known = tokens.get(ours[1]) if ours else None
            given = headers.get(AUTHORIZATION)
            if known is not None and not (only_without_a_token and given is not None):
                rest = [pair for pair in scope["headers"] if pair[0] != AUTHORIZATION]
                scope = {**scope, "headers": [*rest, (AUTHORIZATION, known)]}

            async def noting(message: Message) -> None:
                begins = message["type"] == "http.response.start"
                if begins and known is None and given is not None and message["status"] < 300:
                    name = secrets.token_hex(16).encode()
                    tokens[name] = given
                    cookie = (b"set-cookie", b"sid=" + name + b"; Path=/; Secure; HttpOnly")
                    message = {**message, "headers": [*message["headers"], cookie]}
                await send(message)

            await app(scope, receive, noting)

        return remembering

    return around


DEFECTS = (
    defect(
        "cookie-instead-of-a-token (CHAL-01): After a call with a valid token, the service sets a session "
        "cookie and accepts it in place of a token.",
        around=by_cookie(only_without_a_token=True),
    ),
    defect(
        "cookie-before-the-token (BACK-10 CHAL-01): The service serves the user of the session cookie, "
        "whatever token the request has.",
        around=by_cookie(only_without_a_token=False),
    ),
    mcp_defect(
        "cookie-instead-of-a-token-over-mcp (CHAL-01): After an MCP request with a valid token, the service "
        "sets a session cookie and accepts it in place of a token.",
        around=by_cookie(only_without_a_token=True),
    ),
)
