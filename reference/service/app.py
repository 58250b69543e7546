"""The service's endpoints: its metadata, and the orders behind a challenge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reference.service.backend import Backend
from reference.service.mcp import Mcp
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

    async def token_of(request: Request) -> str | Response:
        """The caller's gateway access token, or the challenge for whoever has none that is accepted."""
        token = bearer_token(request.headers.getlist("authorization"))
        if token is None:
            return _challenge(settings, given="authorization" in request.headers)
        async with _in_time():
            return token if await backend.accepts(token) else _challenge(settings, given=True)

    async def orders_of(token: str) -> list[Any] | Response:
        async with _in_time():
            found = await backend.orders(token)
        if found == "nothing there":
            return _answer(403, {"error": "no_merchant_access"})
        return _challenge(settings, given=True) if isinstance(found, str) else found

    async def orders(request: Request) -> Response:
        token = await token_of(request)
        found = await orders_of(token) if isinstance(token, str) else token
        return found if isinstance(found, Response) else _answer(200, {"orders": found})

    async def tools(request: Request) -> Response:
        token = await token_of(request)
        if isinstance(token, Response):
            return token
        return await mcp.answer(request, partial(orders_of, token))

    mcp = Mcp()
    return Starlette(
        routes=[
            Route("/.well-known/oauth-protected-resource", metadata, methods=["GET"]),
            Route("/orders", orders, methods=["GET", "POST"]),
            Route("/mcp", tools, methods=["GET", "POST", "DELETE"]),
        ],
        exception_handlers={HTTPException: _refused, Unavailable: _later, Exception: _refused},
    )


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    """What takes longer than a caller waits is as good as unavailable."""
    try:
        async with asyncio.timeout(TOTAL_DEADLINE_S):
            yield
    except TimeoutError:
        raise Unavailable from None


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


async def _later(_request: Request, _error: Exception) -> Response:
    return _answer(503, {"error": "temporarily_unavailable"})
