"""The Proxy token: one for all users, in memory alone, renewed shortly before it ends."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from urllib.parse import quote_plus

import httpx

from .errors import BackendError
from .http import request
from .logs import log
from .settings import Settings

MARGIN_S = 60.0
LIFETIME_IF_UNTOLD_S = 60.0
# A refused token younger than this is not replaced: then it is not the token's age that is wrong.
YOUNG_S = 10.0
HEADER_VALUE = re.compile(r"[\x21-\x7e]+")


class ProxyTokens:
    def __init__(self, client: httpx.AsyncClient, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._lock = asyncio.Lock()
        self._token: str | None = None
        self._issued_at = 0.0
        self._renew_at = 0.0

    async def get(self) -> str:
        if (token := self._current()) is not None:
            return token
        async with self._lock:
            if (token := self._current()) is not None:
                return token
            return await self._renew()

    def refused(self, token: str) -> bool:
        """Give up a token that redemption refused. False if another one would not help."""
        if token != self._token:
            return True  # somebody else has replaced it already
        if self._clock() - self._issued_at < YOUNG_S:
            return False
        self._token = None
        return True

    def _current(self) -> str | None:
        return self._token if self._clock() < self._renew_at else None

    async def _renew(self) -> str:
        asked_at = self._clock()
        answer = await request(
            self._client,
            "token_endpoint",
            "POST",
            self._settings.token_url,
            headers={"Accept": "application/json"},
            auth=self._basic(),
            data={"grant_type": "client_credentials"},
        )
        document = answer.json_object()
        token = document.get("access_token")
        if answer.status != 200 or not isinstance(token, str) or not HEADER_VALUE.fullmatch(token):
            log(logging.ERROR, "no_proxy_token", status=answer.status)
            raise BackendError
        lifetime = _lifetime(document.get("expires_in"))
        self._token = token
        self._issued_at = asked_at
        self._renew_at = asked_at + lifetime - min(MARGIN_S, lifetime / 4)
        log(logging.INFO, "proxy_token_renewed", expires_in=lifetime)
        return token

    def _basic(self) -> httpx.BasicAuth:
        # RFC 6749 section 2.3.1: both are form-encoded before they go into Basic.
        return httpx.BasicAuth(quote_plus(self._settings.proxy_client_id), quote_plus(self._settings.proxy_client_secret))


def _lifetime(expires_in: object) -> float:
    if isinstance(expires_in, (int, float)) and not isinstance(expires_in, bool) and 0 < expires_in <= 86400:
        return float(expires_in)
    return LIFETIME_IF_UNTOLD_S
