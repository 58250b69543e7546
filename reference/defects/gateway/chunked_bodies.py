"""Gateways that fail if a request has no Content-Length."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway


def by_its_length(
    applies: Callable[[str, dict[bytes, bytes]], bool],
) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """`int(headers["Content-Length"])`, for requests with a body to which `applies`."""

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def read(scope: Scope, receive: Receive, send: Send) -> None:
            headers = dict(scope["headers"])
            if b"transfer-encoding" in headers and applies(scope["path"], headers):
                await JSONResponse({"error": "server_error"}, 500)(scope, receive, send)
            else:
                await app(scope, receive, send)

        return read

    return around


DEFECTS = (
    defect(
        "chunked-registrations-need-a-length (REG-01): "
        "The gateway answers a registration without Content-Length with 500.",
        around=by_its_length(lambda path, _: path == "/api/register"),
    ),
    defect(
        "chunked-exchanges-need-a-length (CODE-01): "
        "The token endpoint answers a code exchange without Content-Length with 500.",
        around=by_its_length(
            lambda path, headers: path == "/oauth2/token" and b"authorization" not in headers
        ),
    ),
    defect(
        "chunked-proxy-token-requests-need-a-length (PROXY-01): "
        "The token endpoint answers a Proxy token request without Content-Length with 500.",
        around=by_its_length(lambda path, headers: path == "/oauth2/token" and b"authorization" in headers),
    ),
    defect(
        "chunked-redemptions-need-a-length (REDEEM-01): "
        "The gateway answers a redemption without Content-Length with 500.",
        around=by_its_length(lambda path, _: path == "/api/credentials/token"),
    ),
)
