"""The service's endpoints: its metadata, and the orders behind a challenge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reference.service.backend import Backend
from reference.service.settings import Settings
from reference.service.upstream import Unavailable
from reference.service.validation import bearer_token

TOTAL_DEADLINE_S = 25


def create_app(settings: Settings, backend: Backend) -> Starlette:
    async def metadata(_request: Request) -> Response:
        return _answer(
            200,
            {
                "resource": settings.service_url,
                "authorization_servers": [settings.authorization_server],
                "bearer_methods_supported": ["header"],
            },
        )

    async def orders(request: Request) -> Response:
        token = bearer_token(request.headers.getlist("authorization"))
        if token is None:
            return _challenge(settings, given="authorization" in request.headers)
        try:
            async with asyncio.timeout(TOTAL_DEADLINE_S):
                found = await backend.orders(token) if await backend.accepts(token) else "not accepted"
        except (Unavailable, TimeoutError):
            return _answer(503, {"error": "temporarily_unavailable"})
        if found == "nothing there":
            return _answer(403, {"error": "no_merchant_access"})
        if isinstance(found, str):
            return _challenge(settings, given=True)
        return _answer(200, {"orders": found})

    return Starlette(
        routes=[
            Route("/.well-known/oauth-protected-resource", metadata, methods=["GET"]),
            Route("/orders", orders, methods=["GET", "POST"]),
        ],
        exception_handlers={HTTPException: _refused, Exception: _refused},
    )


def _challenge(settings: Settings, *, given: bool) -> Response:
    """Where to get a token that is accepted; `error` only for whoever sent one (RFC 6750 section 3.1)."""
    error = ', error="invalid_token"' if given else ""
    challenge = f'Bearer resource_metadata="{settings.metadata_url}"{error}'
    return _answer(
        401, {"error": "invalid_token" if given else "unauthorized"}, {"www-authenticate": challenge}
    )


def _answer(status: int, document: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    body = json.dumps(document).encode("ascii")
    return Response(body, status, {"cache-control": "no-store", **(headers or {})}, "application/json")


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _answer(status, {"error": HTTPStatus(status).name.lower()})
