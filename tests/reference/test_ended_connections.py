"""The double that ends connections without notice does so, and only then."""

from __future__ import annotations

import asyncio

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.server import ServerState

from gateproof.reference.deviations.ended_connections import ending
from gateproof.reference.serving import Origin


async def told(request: Request) -> Response:
    return Response(b"told", status_code=int(request.path_params["status"]))


async def asked_twice(status: int) -> list[bytes]:
    """The first answer, and what comes for a second request on the same connection."""
    app = Starlette(routes=[Route("/{status}", told)])
    listener = await ending(lambda sent: sent >= 400)(
        Origin(app=app, url="http://127.0.0.1:0"), None, ServerState()
    )
    request = f"GET /{status} HTTP/1.1\r\nHost: double\r\n\r\n".encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    answers = []
    for _ in range(2):
        writer.write(request)
        answers.append(await asyncio.wait_for(reader.read(4096), 5))
        await asyncio.sleep(0.05)
    writer.close()
    listener.close()
    return answers


def test_connection_ends_after_an_error_without_notice() -> None:
    first, second = asyncio.run(asked_twice(417))

    assert first.startswith(b"HTTP/1.1 417")
    assert b"connection: close" not in first.lower()
    assert second == b""


def test_connection_stays_after_a_good_answer() -> None:
    first, second = asyncio.run(asked_twice(200))

    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith(b"HTTP/1.1 200")
