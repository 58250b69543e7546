"""Services whose concurrent callers share a request, which fails if its first caller disconnects."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from types import TracebackType

import httpx

from gateproof.reference.defects.service.cancelled_calls import cancelled_on_disconnect
from gateproof.reference.defects.service.http_caches import copied
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.upstream import Patience, Unavailable, transport

Key = tuple[str, ...]


class _SharedFate:
    """`sf.Do("proxy-token", func() { return fetch(r.Context()) })`."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._cancelled = 0

    async def __aenter__(self) -> None:
        before = self._cancelled
        await self._lock.acquire()
        if self._cancelled != before:
            self._lock.release()
            raise Unavailable

    async def __aexit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if kind is asyncio.CancelledError:
            self._cancelled += 1
        self._lock.release()


class SharedRedemptions(httpx.AsyncBaseTransport):
    """Concurrent redemptions of one token share one request.

    If its first caller disconnects, the request continues if it is `detached`, and fails otherwise.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, *, detached: bool) -> None:
        self._inner, self._detached = inner, detached
        self._flights: dict[Key, asyncio.Future[httpx.Response]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if "x-proxy-token" not in request.headers:
            return await self._inner.handle_async_request(request)
        key = (str(request.url), *(request.headers[name] for name in ("authorization", "x-proxy-token")))
        flight = self._flights.get(key)
        if flight is not None:
            return await self._joined(flight, request)
        flight = self._flights[key] = asyncio.ensure_future(self._made(request))
        flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return copied(await (asyncio.shield(flight) if self._detached else flight))

    async def _made(self, request: httpx.Request) -> httpx.Response:
        answer = await self._inner.handle_async_request(request)
        await answer.aread()
        return answer

    async def _joined(self, flight: asyncio.Future[httpx.Response], request: httpx.Request) -> httpx.Response:
        await asyncio.wait({flight})
        if flight.cancelled():
            raise httpx.ReadError("cancelled", request=request)
        return copied(flight.result())

    async def aclose(self) -> None:
        await self._inner.aclose()


def sharing(*, detached: bool) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    return lambda trust: SharedRedemptions(transport(trust), detached=detached)


DEFECTS = (
    defect(
        "proxy-token-request-of-the-first-caller (ROBUST-03): Concurrent callers share one request for a "
        "Proxy token, and all fail if the first one disconnects.",
        around=cancelled_on_disconnect,
        one_at_a_time=_SharedFate,
    ),
    defect(
        "redemption-of-the-first-caller (ROBUST-03): Concurrent calls with one token share one redemption "
        "without a retry, and all fail if the first caller disconnects.",
        around=cancelled_on_disconnect,
        transport=sharing(detached=False),
        patience=Patience(tries=1),
    ),
)
