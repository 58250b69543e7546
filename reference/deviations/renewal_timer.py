"""A service that renews its Proxy token by a timer, and never because of a call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import proxy
from gateproof.reference.service.upstream import Unavailable

# A token without a usable lifetime is not renewed all the time.
_AT_LEAST_S = 1.0


def renewed_by_a_timer(again_after_s: float | None) -> dict[str, Any]:
    """The timer tries again after a failure; without a time for that, it ends at the first failure."""
    timers: set[asyncio.Task[None]] = set()
    backends: list[Backend] = []

    def around(app: ASGIApp, backend: Backend) -> ASGIApp:
        backends.append(backend)
        return app

    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token = proxy.proxy_token_kept(document, now)
        if token is not None:
            timer = asyncio.ensure_future(renewed(token.value, max(_AT_LEAST_S, token.renew_at - now)))
            timers.add(timer)
            timer.add_done_callback(timers.discard)
        return replace(token, renew_at=math.inf) if token is not None else None

    async def renewed(value: str, wait_s: float | None) -> None:
        while wait_s is not None:
            await asyncio.sleep(wait_s)
            try:
                await backends[-1].proxy_tokens.another_than(value, None)
            except Unavailable:
                wait_s = again_after_s
            else:
                return

    return {
        "around": around,
        "proxy_token_kept": kept,
        "warrants_new_proxy_token": lambda _answer: False,
    }
