"""Requests find their endpoints, and errors their answers, as with Starlette."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateproof.doubles.endpoints import Endpoints


class Broken(Response):
    """An answer that fails after its head."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise HTTPException(418)


async def named(request: Request) -> Response:
    return PlainTextResponse(request.path_params["name"], headers={"x-endpoint": "named"})


async def fixed(request: Request) -> Response:
    return PlainTextResponse(request.query_params.get("q", ""))


async def refusing(_request: Request) -> Response:
    raise HTTPException(403, "not you", headers={"x-why": "test"})


async def failing(_request: Request) -> Response:
    raise ZeroDivisionError


ROUTES = [
    Route("/fixed", fixed, methods=["GET"]),
    Route("/refusing", refusing, methods=["GET"]),
    Route("/{name}", named, methods=["POST"]),
    Route("/failing/now", failing, methods=["GET"]),
]


def asked(app: Any, method: str, path: str) -> httpx.Response:
    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://double.test") as client:
            return await client.request(method, path)

    return asyncio.run(answer())


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/fixed?q=1"),
        ("HEAD", "/fixed"),
        ("POST", "/fixed"),
        ("DELETE", "/fixed"),
        ("POST", "/a%20name"),
        ("GET", "/a"),
        ("POST", "/a/b"),
        ("GET", "/refusing"),
        ("GET", "/failing/now"),
        ("GET", "/fixed/"),
        ("GET", "//fixed"),
    ],
)
def test_answers_are_those_of_starlette(method: str, path: str) -> None:
    starlette = Starlette(routes=ROUTES)
    starlette.router.redirect_slashes = False
    ours, theirs = asked(Endpoints(ROUTES), method, path), asked(starlette, method, path)
    assert (ours.status_code, ours.content, ours.headers) == (
        theirs.status_code,
        theirs.content,
        theirs.headers,
    )


def call(app: Any, path: str) -> tuple[dict[str, Any], list[dict[str, Any]], Exception | None]:
    sent: list[dict[str, Any]] = []
    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}

    async def receive() -> Any:
        raise AssertionError("no endpoint reads a body")

    async def send(message: Any) -> None:
        sent.append(message)

    try:
        asyncio.run(app(scope, receive, send))
    except Exception as error:  # noqa: BLE001 - the caller looks at it
        return scope, sent, error
    return scope, sent, None


def test_unexpected_errors_are_answered_and_raised_again() -> None:
    _, sent, error = call(Endpoints(ROUTES), "/failing/now")
    assert sent[0]["status"] == 500
    assert isinstance(error, ZeroDivisionError)


def test_http_errors_are_answered_only() -> None:
    _, sent, error = call(Endpoints(ROUTES), "/refusing")
    assert sent[0]["status"] == 403
    assert error is None


def test_an_answer_that_has_begun_gets_no_second_head() -> None:
    async def broken(_request: Request) -> Response:
        return Broken()

    _, sent, error = call(Endpoints([Route("/", broken)]), "/")
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert isinstance(error, HTTPException)


def test_the_scope_names_endpoint_and_parameters_also_of_a_wrong_method() -> None:
    app = Endpoints([Route("/{name}", named, methods=["POST"])])
    scope, sent, _ = call(app, "/a")
    assert sent[0]["status"] == 405
    assert (scope["endpoint"], scope["path_params"]) == (named, {"name": "a"})
    scope, sent, _ = call(app, "/a/b")
    assert sent[0]["status"] == 404
    assert "endpoint" not in scope


def test_refusals_can_be_of_ones_own() -> None:
    async def gone(_request: Request) -> Response:
        raise ClientDisconnect

    async def refuse(_request: Request, error: Exception) -> Response:
        return PlainTextResponse(type(error).__name__, 499)

    app = Endpoints([Route("/", gone)], refuse)
    _, sent, error = call(app, "/")
    assert (sent[0]["status"], sent[1]["body"]) == (499, b"ClientDisconnect")
    assert isinstance(error, ClientDisconnect)
    assert asked(app, "GET", "/other").text == "HTTPException"
