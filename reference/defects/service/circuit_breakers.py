"""Services whose circuit breaker stays open after the failing party has recovered."""

from __future__ import annotations

import asyncio
import math
import ssl
import time
from collections.abc import AsyncIterator, Callable

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.upstream import transport

# The rules that fail when nothing is served any more.
NOTHING_SERVED = "ROBUST-02 SERVE-01 SERVE-02 CHAL-02 SECRET-02"
MANY = 5


class _Circuit(httpx.AsyncBaseTransport):
    """A circuit breaker for each party. If `prolonged`, each call to an open one extends the open time."""

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
    """After a failure while many requests are under way, no request is sent any more."""

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


class _LockedBySlowResponse(httpx.AsyncBaseTransport):
    """A redemption that is cancelled in the middle of the response never releases its lock."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._inner = transport(trust)
        self._locked = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        redemption = "x-proxy-token" in request.headers
        if redemption and self._locked:
            raise httpx.ConnectError("locked", request=request)
        response = await self._inner.handle_async_request(request)
        if redemption and isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _WatchedBody(response.stream, self._lock)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _lock(self) -> None:
        self._locked = True


class _WatchedBody(httpx.AsyncByteStream):
    """The body of a response, with a callback for a cancellation in the middle of it."""

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
        f"circuit-opens-for-good-at-the-third-failure (BACK-06 {NOTHING_SERVED}): After three failures of a "
        f"party in a row, the service never sends it a request again.",
        transport=circuit(3),
    ),
    defect(
        f"circuit-opens-for-good-at-the-tenth-failure (BACK-06 {NOTHING_SERVED}): After ten failures of a "
        f"party in a row, the service never sends it a request again.",
        transport=circuit(10),
    ),
    defect(
        "circuit-opens-for-good-at-refusals (ROBUST-02 SERVE-01 SERVE-02): After twenty answers of a "
        "party in a row with a status from 400 to 499, the service never sends it a request again.",
        transport=lambda trust: _Circuit(
            trust, failures=20, open_s=math.inf, prolonged=False, counted=range(400, 500)
        ),
    ),
    defect(
        f"circuit-kept-open-by-callers (BACK-06 {NOTHING_SERVED}): After five failures of a party in a row, "
        f"the circuit breaker opens for three seconds, and each call in this time restarts them.",
        transport=circuit(5, 3.0, prolonged=True),
    ),
    defect(
        f"shut-by-a-crowd ({NOTHING_SERVED}): After one 5xx response while five or more requests are under "
        f"way, the service never sends a request to gateway or merchant again.",
        transport=_Bulkhead,
    ),
    defect(
        f"locked-by-an-answer-in-drops ({NOTHING_SERVED}): A redemption that times out in the middle of a "
        f"slow response never releases its lock.",
        transport=_LockedBySlowResponse,
    ),
)
