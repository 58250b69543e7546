"""Services that protect themselves from a failing party, and stay protected when it is well again."""

from __future__ import annotations

import asyncio
import math
import ssl
import time
from collections.abc import AsyncIterator, Callable

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.upstream import transport

# What fails when nothing is served any more.
NOTHING_SERVED = "ROBUST-02 SERVE-01 SERVE-02 CHAL-02 SECRET-02"
MANY = 5


class _Circuit(httpx.AsyncBaseTransport):
    """A party that failed so often in a row is not asked for so long; who asks meanwhile may prolong that."""

    def __init__(
        self,
        trust: ssl.SSLContext,
        *,
        failures: int,
        open_s: float,
        prolonged: bool,
        counted: range = range(500, 600),
    ) -> None:
        self._inner = transport(trust)
        self._counted = counted
        self._failures, self._open_s, self._prolonged = failures, open_s, prolonged
        self._failed: dict[str, int] = {}
        self._open_until: dict[str, float] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        party, now = request.url.netloc.decode(), time.monotonic()
        if now < self._open_until.get(party, 0.0):
            if self._prolonged:
                self._open_until[party] = now + self._open_s
            raise httpx.ConnectError("open circuit", request=request)
        failed = True
        try:
            response = await self._inner.handle_async_request(request)
            failed = response.status_code in self._counted
        finally:
            self._failed[party] = self._failed.get(party, 0) + 1 if failed else 0
            if self._failed[party] >= self._failures:
                self._open_until[party] = time.monotonic() + self._open_s
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Bulkhead(httpx.AsyncBaseTransport):
    """Where a party fails while many calls are under way, the hatch is shut, and nobody opens it."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._inner = transport(trust)
        self._under_way, self._shut = 0, False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._shut:
            raise httpx.ConnectError("shut", request=request)
        self._under_way += 1
        try:
            response = await self._inner.handle_async_request(request)
            if response.status_code >= 500 and self._under_way >= MANY:
                self._shut = True
        finally:
            self._under_way -= 1
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _LockedInDrops(httpx.AsyncBaseTransport):
    """A redemption whose answer was given up in the middle keeps the lock that it holds."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._inner = transport(trust)
        self._locked = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        redemption = "x-proxy-token" in request.headers
        if redemption and self._locked:
            raise httpx.ConnectError("locked", request=request)
        response = await self._inner.handle_async_request(request)
        if redemption and isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Watched(response.stream, self._lock)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _lock(self) -> None:
        self._locked = True


class _Watched(httpx.AsyncByteStream):
    """The body of an answer, and who is told if it is given up in the middle."""

    def __init__(self, inner: httpx.AsyncByteStream, given_up: Callable[[], None]) -> None:
        self._inner, self._given_up = inner, given_up

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = False
        try:
            async for piece in self._inner:
                begun = True
                yield piece
        except asyncio.CancelledError:
            if begun:
                self._given_up()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


def circuit(
    failures: int, open_s: float = math.inf, *, prolonged: bool = False
) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    return lambda trust: _Circuit(trust, failures=failures, open_s=open_s, prolonged=prolonged)


DEFECTS = (
    defect(
        f"circuit-opens-for-good-at-the-third-failure (BACK-06 {NOTHING_SERVED}): A party that failed three "
        f"times in a row is never asked again.",
        transport=circuit(3),
    ),
    defect(
        f"circuit-opens-for-good-at-the-tenth-failure (BACK-06 {NOTHING_SERVED}): A party that failed ten "
        f"times in a row is never asked again.",
        transport=circuit(10),
    ),
    defect(
        "circuit-opens-for-good-at-refusals (ROBUST-02 BACK-02 BACK-06 BACK-07): A party that refused twenty "
        "times in a row, with a status from 400 to 499, is never asked again.",
        transport=lambda trust: _Circuit(
            trust, failures=20, open_s=math.inf, prolonged=False, counted=range(400, 500)
        ),
    ),
    defect(
        f"circuit-kept-open-by-callers (BACK-06 {NOTHING_SERVED}): A party that failed five times in a row "
        f"is not asked for three seconds, and each caller makes it three seconds from then.",
        transport=circuit(5, 3.0, prolonged=True),
    ),
    defect(
        f"shut-by-a-crowd ({NOTHING_SERVED}): Where gateway or merchant fail while five calls are under "
        f"way, nobody is asked any more.",
        transport=_Bulkhead,
    ),
    defect(
        f"locked-by-an-answer-in-drops ({NOTHING_SERVED}): A redemption whose answer comes in drops is given "
        f"up, and its lock is never released.",
        transport=_LockedInDrops,
    ),
)
