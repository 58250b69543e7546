"""Services that fail calls which arrive while a Proxy token is requested."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from starlette.types import ASGIApp

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.proxy_tokens import ProxyTokens
from gateproof.reference.service.upstream import Unavailable


class _Flagged:
    """`if (!this.token && !this.fetching) { this.fetching = true; this.token = await request(); }`."""

    def __init__(self, inner: ProxyTokens, instead: Callable[[], str]) -> None:
        self._inner, self._instead = inner, instead
        self._fetching = False

    async def current(self, place: Hashable) -> str:
        if self._fetching:
            return self._instead()
        self._fetching = True
        try:
            return await self._inner.current(place)
        finally:
            self._fetching = False

    async def another_than(self, refused: str, place: Hashable) -> str | None:
        return await self._inner.another_than(refused, place)


def flagged(instead: Callable[[], str]) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """Calls that arrive during a request for a Proxy token use what `instead` returns."""

    def around(app: ASGIApp, backend: Backend) -> ASGIApp:
        backend.proxy_tokens = _Flagged(backend.proxy_tokens, instead)  # type: ignore[assignment]
        return app

    return around


def turned_away() -> str:
    raise Unavailable


DEFECTS = (
    defect(
        "waiting-callers-redeem-with-undefined (BACK-04 SERVE-01): While one call requests a Proxy token, "
        "the others redeem with undefined in its place.",
        around=flagged(lambda: "undefined"),
    ),
    defect(
        "waiting-callers-turned-away (SERVE-01): While one call requests a Proxy token, the others fail.",
        around=flagged(turned_away),
    ),
)
