"""The service's endpoints: its metadata, and the protected orders."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import Mcp
from gateproof.reference.service.policy.metadata_and_challenge import ChallengeFacts
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Asked, Outcome, Reply

Log = Callable[[str], None]
MOST_OCTETS = 1024 * 1024


def create_app(backend: Backend, log: Log = lambda _line: None) -> ASGIApp:
    """The public metadata, and one operation over plain HTTP and MCP."""
    settings, policies = backend.settings, backend.policies
    mcp, metadata_path = Mcp(), policies.metadata_path(settings)

    async def metadata(_request: Request) -> Response:
        body = json.dumps(policies.metadata_document(settings)).encode("ascii")
        return Response(body, 200, {"cache-control": "no-store"}, policies.metadata_type)

    def answered(asked: Asked, outcome: Outcome) -> Response:
        reply = policies.answer_of(outcome)
        if policies.challenged(reply, outcome):
            facts = ChallengeFacts(
                metadata_url=f"{settings.service_url}{metadata_path}",
                authorization_server=settings.authorization_server,
                given=outcome.kind != "no token",
            )
            values = (("www-authenticate", value) for value in policies.challenges(facts))
            reply = replace(reply, headers=(*reply.headers, *values))
        log(policies.logged(asked, reply, outcome))
        return _response(reply)

    async def orders(request: Request) -> Response:
        asked = await _asked(request)
        call = await backend.call_of(asked)
        return answered(asked, await backend.orders(call) if isinstance(call, CallFacts) else call)

    async def orders_of(call: CallFacts) -> list[Any] | Response:
        outcome = await backend.orders(call)
        return outcome.orders if outcome.kind == "served" else answered(call.asked, outcome)

    async def tools(request: Request) -> Response:
        asked = await _asked(request)
        status = policies.refusal_of_another_site(asked)
        if status is not None:
            return _response(policies.not_found(status))
        call = await backend.call_of(asked)
        if isinstance(call, Outcome):
            return answered(asked, call)
        return await mcp.answer(request, partial(orders_of, call))

    async def refused(_request: Request, error: Exception) -> Response:
        return _response(policies.not_found(error.status_code if isinstance(error, HTTPException) else 500))

    app = Starlette(
        routes=[
            Route(metadata_path, metadata, methods=["GET"]),
            Route("/orders", orders, methods=["GET", "POST"]),
            Route("/mcp", tools, methods=["GET", "POST", "DELETE"]),
        ],
        exception_handlers={HTTPException: refused, Exception: refused},
    )
    return policies.around(app, backend)


async def _asked(request: Request) -> Asked:
    if int(request.headers.get("content-length", 0)) > MOST_OCTETS:
        raise HTTPException(413)
    return Asked(
        method=request.method,
        path=request.url.path,
        query=request.url.query,
        headers=tuple((name.lower(), value) for name, value in request.headers.items()),
        body=await request.body(),
    )


def _response(reply: Reply) -> Response:
    response = Response(reply.body, reply.status)
    response.raw_headers += [
        (name.encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers
    ]
    return response
