"""`python small_service.py FORM [WRONG]` serves the orders in a form of its own, rightly or wrong in one way.

What is decided about tokens is the reference's; how agents are asked and answered is this service's own. The
forms: a stream of events, an answer after three seconds, JSON-RPC whose errors come with 200, an MCP session.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.metadata_and_challenge import (
    ChallengeFacts,
    challenges,
    metadata_document,
    metadata_path,
)
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.settings import read_settings
from gateproof.reference.service.wire import Asked, Outcome
from gateproof.reference.serving import Origin, run, server_tls

SLOW_S = 3.0
Answering = Callable[[Request, "Small"], Awaitable[Response]]


class Small:
    """The backend, and what is wrong with the service around it."""

    def __init__(self, backend: Backend, wrong: str) -> None:
        self.backend = backend
        self.wrong = wrong
        self.sessions: dict[str, CallFacts] = {}
        self.last: list[Any] = []

    async def call(self, request: Request) -> CallFacts | Outcome:
        """Whose call it is."""
        headers = tuple((name.lower(), value) for name, value in request.headers.items())
        return await self.backend.call_of(
            Asked(method=request.method, path=request.url.path, headers=headers)
        )

    async def orders(self, call: CallFacts) -> Outcome:
        outcome = await self.backend.orders(call)
        self.last = self.last or outcome.orders
        return outcome

    def challenge(self, outcome: Outcome) -> Response:
        settings = self.backend.settings
        facts = ChallengeFacts(
            metadata_url=f"{settings.service_url}{metadata_path(settings)}",
            authorization_server=settings.authorization_server,
            given=outcome.kind != "no token",
        )
        status = 503 if outcome.kind == "unavailable" else 401
        said = {"www-authenticate": challenges(facts)[0]} if status == 401 else {}
        return JSONResponse({"error": outcome.kind}, status, said)


async def streaming(request: Request, small: Small) -> Response:
    """One event an order, with a word in between, and an event at the end; trouble comes as an event, too."""
    call = await small.call(request)
    if isinstance(call, Outcome) and small.wrong != "refusal-as-an-event":
        return small.challenge(call)

    async def events() -> AsyncIterator[str]:
        outcome = call if isinstance(call, Outcome) else await small.orders(call)
        orders = small.last if small.wrong == "orders-of-whoever-came-first" else outcome.orders
        for order in orders:
            yield ": thinking\n\n"
            await asyncio.sleep(0.05)
            yield f"event: order\ndata: {json.dumps(order)}\n\n"
        yield f"event: end\ndata: {json.dumps(outcome.kind)}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


async def slow(request: Request, small: Small) -> Response:
    """The orders, three seconds later."""
    call = await small.call(request)
    if isinstance(call, Outcome):
        return small.challenge(call)
    outcome = await small.orders(call)
    await asyncio.sleep(SLOW_S)
    orders = small.last if small.wrong == "orders-of-whoever-came-first" else outcome.orders
    return JSONResponse({"orders": orders} if outcome.kind == "served" else {"error": outcome.kind})


async def rpc(request: Request, small: Small) -> Response:
    """JSON-RPC: only who has no good token hears of it by HTTP, and everything else comes with 200."""
    number = _number(await request.body())
    call = await small.call(request)
    if isinstance(call, Outcome) and small.wrong == "refusal-with-200":
        return _error(number, call.kind)
    if isinstance(call, Outcome):
        return small.challenge(call)
    outcome = await small.orders(call)
    if outcome.kind == "served":
        return _result(number, {"orders": outcome.orders})
    return _error(number, outcome.kind, small.last if small.wrong == "orders-in-an-error" else None)


async def session(request: Request, small: Small) -> Response:
    """MCP with sessions that have to be begun; a tool that fails says so with 200."""
    body = await request.body()
    number, method, named = _number(body), _method(body), request.headers.get("mcp-session-id", "")
    call = await small.call(request)
    if small.wrong == "session-is-enough" and named in small.sessions:
        call = small.sessions[named]
    if isinstance(call, Outcome):
        return small.challenge(call)
    if method == "initialize":
        named = secrets.token_urlsafe(16)
        small.sessions[named] = call
        capabilities = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
        return _result(number, capabilities | {"serverInfo": {"name": "small", "version": "1"}}, named)
    if named not in small.sessions:
        return JSONResponse({"error": "no session"}, 400)
    if method != "tools/call":
        return Response(status_code=202) if number is None else _error(number, "no such method")
    outcome = await small.orders(call)
    text = json.dumps(outcome.orders) if outcome.kind == "served" else f"cannot: {outcome.kind}"
    content = [{"type": "text", "text": text}]
    return _result(number, {"content": content, "isError": outcome.kind != "served"})


FORMS: dict[str, tuple[str, Answering]] = {
    "streaming": ("/orders", streaming),
    "slow": ("/orders", slow),
    "rpc": ("/rpc", rpc),
    "session": ("/mcp", session),
}


def _number(body: bytes) -> Any:
    return _message(body).get("id")


def _method(body: bytes) -> Any:
    return _message(body).get("method")


def _message(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _result(number: Any, result: Any, named: str = "") -> Response:
    headers = {"mcp-session-id": named} if named else {}
    return JSONResponse({"jsonrpc": "2.0", "id": number, "result": result}, 200, headers)


def _error(number: Any, message: str, data: Any = None) -> Response:
    error = {"code": -32000, "message": message, "data": data}
    return JSONResponse({"jsonrpc": "2.0", "id": number, "error": error})


def main(form: str, wrong: str) -> None:
    settings = read_settings(os.environ)
    trust = ssl.create_default_context(cafile=settings.ca_file)
    client = httpx.AsyncClient(verify=trust, trust_env=False, timeout=1.5)
    small = Small(Backend(settings, client, time.time), wrong)
    path, answering = FORMS[form]

    async def operation(request: Request) -> Response:
        return await answering(request, small)

    async def metadata(_request: Request) -> Response:
        return JSONResponse(metadata_document(settings))

    app = Starlette(
        routes=[
            Route(metadata_path(settings), metadata),
            Route(path, operation, methods=["GET", "POST", "DELETE"]),
        ]
    )
    assert settings.tls_cert_file is not None
    assert settings.tls_key_file is not None
    tls = server_tls(settings.tls_cert_file, settings.tls_key_file)
    run([Origin(app=app, url=settings.service_url)], tls=tls, exit_with_stdin=False, on_exit=client.aclose)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
