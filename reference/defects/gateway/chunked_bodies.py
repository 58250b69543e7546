"""Gateways that treat a body without Content-Length as empty."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway


def by_its_length(
    applies: Callable[[str, dict[bytes, bytes]], bool],
) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Treats chunked bodies as empty if `applies` is true for path and headers."""

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def read(scope: Scope, receive: Receive, send: Send) -> None:
            headers = dict(scope["headers"])
            if b"content-length" in headers or not applies(scope["path"], headers):
                await app(scope, receive, send)
                return
            while (await receive()).get("more_body"):
                pass
            await app(scope, _nothing, send)

        return read

    return around


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


DEFECTS = (
    defect(
        "chunked-registrations-unread (REG-01): The gateway treats the body of a registration without "
        "Content-Length as empty.",
        around=by_its_length(lambda path, _: path == "/api/register"),
    ),
    defect(
        "chunked-exchanges-unread (CODE-01): The token endpoint treats the form of an agent without "
        "Content-Length as empty.",
        around=by_its_length(
            lambda path, headers: path == "/oauth2/token" and b"authorization" not in headers
        ),
    ),
    defect(
        "chunked-proxy-token-requests-unread (PROXY-01): The token endpoint treats the form of a Proxy "
        "client without Content-Length as empty.",
        around=by_its_length(lambda path, headers: path == "/oauth2/token" and b"authorization" in headers),
    ),
    defect(
        "chunked-redemptions-unread (REDEEM-01): The gateway treats the body of a redemption without "
        "Content-Length as empty.",
        around=by_its_length(lambda path, _: path == "/api/credentials/token"),
    ),
)
