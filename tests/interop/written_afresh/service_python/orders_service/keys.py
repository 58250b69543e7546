"""The core key set, found through the per-Resource discovery document, and kept for a while."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key

from .errors import BackendError, KeysUnavailable
from .http import request
from .logs import log

FRESH_S = 600.0
COOL_DOWN_S = 10.0
COOL_DOWN_AFTER_FAILURE_S = 2.0
PUBLIC_KEY_TYPES = frozenset({"RSA", "EC", "OKP"})


@dataclass(frozen=True)
class KeySet:
    issuer: str
    keys: tuple[Key, ...]

    def candidates(self, kid: str | None) -> list[Key]:
        """The keys that a token may be signed with; without a kid it may be any."""
        return [key for key in self.keys if kid is None or key.kid == kid]


class KeySource:
    def __init__(self, client: httpx.AsyncClient, authorization_server: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._discovery_url = f"{authorization_server}/.well-known/openid-configuration"
        self._clock = clock
        self._lock = asyncio.Lock()
        self._known: KeySet | None = None
        self._fetched_at = 0.0
        self._next_fetch_at = 0.0

    async def for_kid(self, kid: str | None) -> KeySet:
        """The key set, fetched again if it is old or does not have the key, but not more often than the cool-down."""
        if not self._wanted(kid):
            return self._known  # type: ignore[return-value]
        async with self._lock:
            if self._wanted(kid) and self._clock() >= self._next_fetch_at:
                await self._refresh()
        if self._known is None:
            raise KeysUnavailable
        return self._known

    def _wanted(self, kid: str | None) -> bool:
        if self._known is None or self._clock() - self._fetched_at > FRESH_S:
            return True
        return not self._known.candidates(kid)

    async def _refresh(self) -> None:
        try:
            self._known = await self._fetch()
        except (BackendError, KeysUnavailable):
            self._next_fetch_at = self._clock() + COOL_DOWN_AFTER_FAILURE_S
            log(logging.WARNING, "keys_not_refreshed", stale_keys_in_use=self._known is not None)
            return
        self._fetched_at = self._clock()
        self._next_fetch_at = self._fetched_at + COOL_DOWN_S
        log(logging.INFO, "keys_refreshed", keys=len(self._known.keys))

    async def _fetch(self) -> KeySet:
        document = await self._get_json(self._discovery_url)
        issuer, jwks_uri = document.get("issuer"), document.get("jwks_uri")
        if not (isinstance(issuer, str) and issuer and isinstance(jwks_uri, str)):
            raise KeysUnavailable
        if urlsplit(jwks_uri).scheme != urlsplit(self._discovery_url).scheme:
            raise KeysUnavailable  # never from https down to http
        listed = (await self._get_json(jwks_uri)).get("keys")
        keys = tuple(_usable(listed)) if isinstance(listed, list) else ()
        if not keys:
            raise KeysUnavailable
        return KeySet(issuer, keys)

    async def _get_json(self, url: str) -> dict[str, object]:
        answer = await request(self._client, "gateway_documents", "GET", url, headers={"Accept": "application/json"})
        if answer.status != 200:
            raise KeysUnavailable
        return answer.json_object()


def _usable(listed: list[object]) -> list[Key]:
    """The public signing keys of a set. A key that nobody here understands does not spoil the others (RFC 7517)."""
    keys: list[Key] = []
    for entry in listed:
        if not isinstance(entry, dict) or entry.get("kty") not in PUBLIC_KEY_TYPES:
            continue
        if entry.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(entry))
        except (JoseError, ValueError, TypeError, KeyError):
            log(logging.WARNING, "key_not_understood")
    return keys
