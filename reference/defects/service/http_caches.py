"""Services whose HTTP client caches responses by URL only."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Callable

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service import upstream

_OF_THE_CODING = frozenset({"content-encoding", "content-length"})
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age=(\d+)")
Key = Callable[[httpx.Request], str]


def by_url(request: httpx.Request) -> str:
    return str(request.url)


class CachingTransport(httpx.AsyncBaseTransport):
    """Caches responses to GET as Cache-Control says, or else for `otherwise_s`."""

    def __init__(self, inner: httpx.AsyncBaseTransport, key: Key, otherwise_s: float) -> None:
        self._inner, self._key, self._otherwise_s = inner, key, otherwise_s
        self._kept: dict[str, tuple[float, httpx.Response]] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        until, kept = self._kept.get(self._key(request), (0.0, None))
        if request.method == "GET" and kept is not None and time.monotonic() < until:
            return copied(kept)
        answer = await self._inner.handle_async_request(request)
        if request.method != "GET" or answer.status_code != 200:
            return answer
        await answer.aread()
        kept = copied(answer)
        self._kept[self._key(request)] = time.monotonic() + self._lasts_s(answer), kept
        return copied(kept)

    def _lasts_s(self, answer: httpx.Response) -> float:
        said = answer.headers.get("cache-control", "")
        if "no-store" in said:
            return 0.0
        stated = _MAX_AGE.search(said)
        return float(stated[1]) if stated is not None else self._otherwise_s

    async def aclose(self) -> None:
        await self._inner.aclose()


def copied(kept: httpx.Response) -> httpx.Response:
    """A copy of the response that can be read again; its body is decompressed."""
    headers = [pair for pair in kept.headers.multi_items() if pair[0].lower() not in _OF_THE_CODING]
    return httpx.Response(kept.status_code, headers=headers, content=kept.content)


def cached(key: Key, otherwise_s: float = 0.0) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    """A transport with such a cache."""
    return lambda trust: CachingTransport(upstream.transport(trust), key, otherwise_s)


DEFECTS = (
    defect(
        "answers-cached-by-address (BACK-10): The HTTP client caches responses by URL, without regard to the "
        "user, for five minutes or as Cache-Control says.",
        transport=cached(by_url, 300.0),
    ),
    defect(
        "answers-cached-by-address-when-they-say-so (BACK-10): The HTTP client caches responses with max-age "
        "by URL, without regard to the user.",
        transport=cached(by_url),
    ),
)
