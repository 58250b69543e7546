"""`python seldom_service.py SECONDS …` serves the reference as one that fetches the key set seldom.

For an unknown key it fetches the key set at most once in so many seconds. The discovery document is fetched
once. The libraries jose (Node) and FastMCP work like this, with 30 seconds.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Sequence
from dataclasses import replace

import httpx

from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.upstream import transport

_DISCOVERY = "/.well-known/openid-configuration"


class _DiscoveredOnce(httpx.AsyncBaseTransport):
    """Answers each further request for the discovery document with the first good answer."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._sends = transport(trust)
        self._kept: bytes | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith(_DISCOVERY):
            return await self._sends.handle_async_request(request)
        if self._kept is None:
            answer = await self._sends.handle_async_request(request)
            if answer.status_code != 200:
                return answer
            self._kept = await answer.aread()
        return httpx.Response(200, headers={"content-type": "application/json"}, content=self._kept)

    async def aclose(self) -> None:
        await self._sends.aclose()


def main(argv: Sequence[str]) -> int:
    seconds, *rest = argv
    seldom = replace(Policies(), keys_again_after_s=float(seconds), transport=_DiscoveredOnce)
    return serve_service(rest, seldom)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
