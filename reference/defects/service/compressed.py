"""Services that accept gzip and do not undo it."""

from __future__ import annotations

import ssl
from collections.abc import Callable

import httpx

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.upstream import transport

ACCEPT, ENCODING = "accept-encoding", "content-encoding"


class _Raw(httpx.AsyncBaseTransport):
    """A client that leaves the body of certain requests as it came."""

    def __init__(self, inner: httpx.AsyncBaseTransport, concerned: Callable[[httpx.Request], bool]) -> None:
        self._inner = inner
        self._concerned = concerned

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        concerned = self._concerned(request)
        request.headers[ACCEPT] = "gzip" if concerned else "identity"
        answer = await self._inner.handle_async_request(request)
        if concerned:
            answer.headers.pop(ENCODING, None)
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


def raw(concerned: Callable[[httpx.Request], bool]) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    return lambda trust: _Raw(transport(trust), concerned)


DEFECTS = (
    defect(
        "gzip-not-undone (SERVE-01): The service asks all parties for gzip and does not decompress the "
        "answers.",
        transport=raw(lambda _request: True),
    ),
    defect(
        "merchants-gzip-not-undone (SERVE-01): The service asks the merchant for gzip and does not "
        "decompress the answer.",
        transport=raw(lambda request: request.method == "GET" and request.url.path.endswith("/orders")),
    ),
    defect(
        "proxy-tokens-gzip-not-undone (SERVE-01): The service asks for the Proxy token in gzip and does not "
        "decompress the answer.",
        transport=raw(lambda request: request.url.path.endswith("/oauth2/token")),
    ),
)
