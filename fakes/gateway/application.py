"""The scripted parties over HTTP. Every request is recorded before its answer is chosen."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.fakes.gateway.gateway import Replied, ScriptedGateway
from gateproof.fakes.gateway.journal import Call, Journal
from gateproof.fakes.gateway.script import OK, Answer, Endpoint, Script
from gateproof.fakes.serving import Reset

_DRIP_S = 0.1
_GZIP = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q\s*=\s*(?:1|0?\.0*[1-9])[^,]*)?\s*(?:,|$)", re.IGNORECASE)
Honest = Callable[[Call], Replied]
Routes = Mapping[tuple[str, str], tuple[Endpoint, Honest]]
_ORDINALS = count(1)


def base_routes(gateway: ScriptedGateway) -> Routes:
    """The routes of the API host: discovery, the per-Resource key set, redemption."""
    discovery = f"{_path(gateway.authorization_server)}/.well-known/openid-configuration"
    return {
        ("GET", discovery): (Endpoint.DISCOVERY, lambda _: gateway.discovery()),
        ("GET", _path(gateway.resource_jwks_uri)): (
            Endpoint.RESOURCE_KEYS,
            lambda _: gateway.resource_keys(),
        ),
        ("POST", _path(gateway.addresses.redemption_endpoint)): (Endpoint.REDEMPTION, gateway.redemption),
    }


def core_routes(gateway: ScriptedGateway) -> Routes:
    """The routes of the core host: the token endpoint and the core key set."""
    where = gateway.addresses
    return {
        ("GET", _path(where.core_jwks_uri)): (Endpoint.CORE_KEYS, lambda _: gateway.keys()),
        ("POST", _path(where.token_endpoint)): (Endpoint.TOKEN, gateway.token),
    }


def merchant_routes(gateway: ScriptedGateway) -> Routes:
    """The routes of the merchant API, which identifies users by their merchant tokens."""
    path = f"{_path(gateway.addresses.merchant_api_url)}/orders"
    return {("GET", path): (Endpoint.MERCHANT_API, gateway.orders)}


def application(
    script: Script, journal: Journal, *routes: Routes, otherwise: Honest | None = None
) -> ASGIApp:
    """Serves the routes and records every request; `otherwise` answers the ones without a route."""
    elsewhere = (Endpoint.ELSEWHERE, otherwise or _nothing)
    known = {key: value for each in routes for key, value in each.items()}

    def found(method: str, path: str) -> tuple[Endpoint, Honest]:
        if method != "HEAD" or (method, path) in known:
            return known.get((method, path), elsewhere)
        # HEAD is answered like GET (RFC 9110 section 9.3.2), but does not count as a call of the endpoint.
        return Endpoint.ELSEWHERE, known.get(("GET", path), elsewhere)[1]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        endpoint, honest = found(request.method, request.url.path)
        response = await _answered(script, journal, request, endpoint, honest)
        await response(scope, receive, send)

    return app


def asks_for_gzip(call: Call) -> bool:
    """True if Accept-Encoding names gzip; a missing header or `*` does not count."""
    return _GZIP.search(call.header("accept-encoding") or "") is not None


def _path(url: str) -> str:
    return urlsplit(url).path


def _nothing(_call: Call) -> Replied:
    return Replied(status=404, document={"error": "not_found"})


async def _answered(
    script: Script, journal: Journal, request: Request, endpoint: Endpoint, honest: Honest
) -> Response:
    try:
        body = await request.body()
    except ClientDisconnect:
        return Reset()
    call = Call(
        ordinal=next(_ORDINALS),
        endpoint=endpoint,
        method=request.method,
        target=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw
        ),
        body=body,
        at_s=time.monotonic(),
    )
    cleared = script.cleared
    place, answer = journal.note(call), script.next(endpoint)
    if answer.whose not in call.text():
        answer = OK

    async def over() -> bool:
        return await request.is_disconnected() or (answer.hangs and script.cleared > cleared)

    over_early = await _pause(over, script.hang_s if answer.hangs else answer.delay_s)
    if over_early or answer.reset or answer.hangs:
        return Reset()
    response = _response(answer, honest, call)
    if answer.gzips and asks_for_gzip(call):
        response = _packed(response)
    if answer.capitals:
        response.raw_headers = [(_AsWritten.of(name), value) for name, value in response.raw_headers]
    journal.settle(place, response.status_code)
    return _InPieces(response, answer) if answer.drips_s or answer.breaks_off else response


class _AsWritten(bytes):
    """A header name that keeps its capitals; uvicorn would write it in lower case."""

    def lower(self) -> bytes:
        return self

    @classmethod
    def of(cls, name: bytes) -> bytes:
        """The name with capitals, except for headers that frame the body: uvicorn looks for these."""
        if name in {b"content-length", b"transfer-encoding", b"connection"}:
            return name
        return cls(name.title().replace(b"Www-", b"WWW-"))


class _InPieces(Response):
    """An answer whose body is sent slowly, or only in part."""

    def __init__(self, whole: Response, how: Answer) -> None:
        self._whole, self._how = whole, how
        super().__init__()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole, body = self._whole, bytes(self._whole.body)
        await send({"type": "http.response.start", "status": whole.status_code, "headers": whole.raw_headers})
        dripped = min(int(self._how.drips_s / _DRIP_S), len(body))
        for place in range(dripped):
            await send({"type": "http.response.body", "body": body[place : place + 1], "more_body": True})
            await asyncio.sleep(_DRIP_S)
        rest = body[dripped:]
        if self._how.breaks_off:
            await send({"type": "http.response.body", "body": rest[: len(rest) // 2], "more_body": True})
            # Wait, so that the written part arrives before the reset.
            await asyncio.sleep(_DRIP_S)
            await Reset()(scope, receive, send)
        else:
            await send({"type": "http.response.body", "body": rest})


def _packed(plain: Response) -> Response:
    headers = {name: value for name, value in plain.headers.items() if name != "content-length"}
    return Response(gzip.compress(plain.body), plain.status_code, headers | {"content-encoding": "gzip"})


async def _pause(is_over: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Waits; returns True early if `is_over` becomes true."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        await asyncio.sleep(min(left, 0.05))
        if await is_over():
            return True
    return False


def _response(answer: Answer, honest: Honest, call: Call) -> Response:
    stated = {"cache-control": "no-store", **answer.headers}
    headers = {name: value for name, value in stated.items() if value is not None}
    if answer.body is not None:
        return Response(answer.body, answer.status or 200, headers, "application/json")
    if answer.status is not None:
        return Response(
            json.dumps({"error": "scripted", **answer.members}), answer.status, headers, "application/json"
        )
    replied = honest(call)
    headers |= replied.headers
    if replied.page is not None:
        # An empty body has no type: some clients stop at one that they do not know, such as MCP's of Java.
        return Response(replied.page, replied.status, headers, "text/html" if replied.page else None)
    document = {**replied.document, **answer.members}
    kept = {name: value for name, value in document.items() if value is not None}
    return Response(json.dumps(kept), answer.as_status or replied.status, headers, "application/json")
