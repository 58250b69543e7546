"""A circuit breaker between a service and the parties that it calls."""

from __future__ import annotations

import time

import httpx


class Circuits(httpx.AsyncBaseTransport):
    """Does not call a party for `open_s` seconds after this many failures in a row."""

    def __init__(self, inner: httpx.AsyncBaseTransport, *, failures: int, open_s: float) -> None:
        self._inner, self._failures, self._open_s = inner, failures, open_s
        self._failed: dict[str, int] = {}
        self._open_until: dict[str, float] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        party = request.url.netloc.decode()
        if time.monotonic() < self._open_until.get(party, 0.0):
            raise httpx.ConnectError("open circuit", request=request)
        failed = True
        try:
            response = await self._inner.handle_async_request(request)
            failed = response.status_code >= 500
        finally:
            # A request that took too long is cancelled, and is also handled here.
            self._failed[party] = self._failed.get(party, 0) + 1 if failed else 0
            if self._failed[party] >= self._failures:
                self._open_until[party] = time.monotonic() + self._open_s
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
