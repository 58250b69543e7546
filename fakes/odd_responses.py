"""Responses that are truncated, slow, or preceded by other bytes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from starlette.responses import Response

from gateproof.fakes.extensions import WRITE
from gateproof.fakes.serving import Reset

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PAUSE_S = 0.1
# More bytes than are ever sent at this rate.
ANNOUNCED = 1_000_000


class SlowSpaces(Response):
    """Sends spaces one by one for some seconds, then resets the connection."""

    def __init__(self, seconds: float, *, content_type: str) -> None:
        super().__init__(headers={"content-type": content_type, "content-length": str(ANNOUNCED)})
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        gone = asyncio.ensure_future(_gone(receive))
        until = time.monotonic() + self._seconds
        try:
            while time.monotonic() < until and not gone.done():
                await send({"type": "http.response.body", "body": b" ", "more_body": True})
                await asyncio.wait((gone,), timeout=PAUSE_S)
        finally:
            gone.cancel()
        await Reset()(scope, receive, send)


class Truncated(Response):
    """Closes the connection before the announced length of the body has been sent."""

    def __init__(self, body: bytes, *, announced: int, content_type: str) -> None:
        super().__init__(body, headers={"content-type": content_type, "content-length": str(announced)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        # If an application returns while more_body is True, the server closes the connection.
        await send({"type": "http.response.body", "body": self.body, "more_body": True})


class WithPrefix(Response):
    """An answer with extra bytes in front of its status line."""

    def __init__(self, octets: bytes, answer: Response) -> None:
        super().__init__(status_code=answer.status_code)
        self._octets = octets
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        write = scope.get("extensions", {}).get(WRITE)
        if write is not None:
            write(self._octets)
        await self._answer(scope, receive, send)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
