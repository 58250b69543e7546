"""`python seldom_service.py SECONDS …` serves the reference as one that fetches the key set seldom.

For an unknown key it fetches the key set at most once in so many seconds. The discovery document is fetched
once. The libraries jose (Node) and FastMCP work like this, with 30 seconds. With SECONDS/TIMES, which is a
defect, it fetches the key set so many times, and then no more.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import httpx

from gateproof.reference.service.command import main as serve_service
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.upstream import transport

# The ends of the paths of the discovery document and of the key set.
_DISCOVERY, _KEYS = "/.well-known/openid-configuration", "/set"


class _Kept(httpx.AsyncBaseTransport):
    """After so many good answers for a document, answers each further request with the last of them."""

    def __init__(self, trust: ssl.SSLContext, most: Mapping[str, float]) -> None:
        self._sends = transport(trust)
        self._left = dict(most)
        self._kept: dict[str, bytes] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = next((end for end in self._left if request.url.path.endswith(end)), None)
        if name is None:
            return await self._sends.handle_async_request(request)
        if self._left[name] > 0:
            answer = await self._sends.handle_async_request(request)
            if answer.status_code != 200:
                return answer
            self._left[name] -= 1
            self._kept[name] = await answer.aread()
        return httpx.Response(200, headers={"content-type": "application/json"}, content=self._kept[name])

    async def aclose(self) -> None:
        await self._sends.aclose()


def main(argv: Sequence[str]) -> int:
    how, *rest = argv
    seconds, _, times = how.partition("/")
    most = {_DISCOVERY: 1.0, _KEYS: float(times or "inf")}
    kept = partial(_Kept, most=most)
    seldom = replace(Policies(), keys_again_after_s=float(seconds), transport=kept)
    return serve_service(rest, seldom)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
