"""The gateway's issuer, token endpoint and core keys, cached by the service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.keys import Known
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Unavailable, Upstream


class Gateway:
    """Reads endpoints and keys from the discovery document of the Resource's authorization server."""

    def __init__(
        self, settings: Settings, upstream: Upstream, now: Callable[[], float], policies: Policies
    ) -> None:
        self._settings = settings
        self._upstream = upstream
        self._now = now
        self._policies = policies
        self._known: Known | None = None
        self._lock = asyncio.Lock()

    async def known(self, max_age_s: float) -> Known:
        """Values that are not older than this; concurrent callers share one fetch."""
        async with self._lock:
            if self._known is None or self._now() - self._known.fetched_at >= max_age_s:
                self._known = await self._found()
            return self._known

    async def _found(self) -> Known:
        try:
            return await self._discovered()
        except Unavailable:
            instead = self._policies.keys_while_out_of_reach(self._known)
            if instead is None:
                raise
            return instead

    async def _discovered(self) -> Known:
        document = await self._upstream.get(
            f"{self._settings.authorization_server}/.well-known/openid-configuration"
        )
        issuer, endpoint = document.get("issuer"), document.get("token_endpoint")
        if not (isinstance(issuer, str) and isinstance(endpoint, str)):
            raise Unavailable
        keys: list[Any] = []
        for url in self._policies.key_set_uris(self._settings, document):
            found = (await self._upstream.get(url)).get("keys")
            if not isinstance(found, list):
                raise Unavailable
            keys += found
        return Known(
            issuer=issuer,
            token_endpoint=endpoint,
            keys=tuple(key for key in keys if isinstance(key, dict)),
            fetched_at=self._now(),
        )
