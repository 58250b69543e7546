"""The service towards the gateway and the merchant; the credentials that it handles stay in here."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

import httpx

from reference.service.settings import Settings
from reference.service.upstream import Answer, Unavailable, ask
from reference.service.validation import acceptable, signed_claims

KEYS_AGAIN_AFTER_S = 1
KEYS_FOR_S = 300
FORCED_AGAIN_AFTER_S = 2
NEAR_EXPIRY_AT_MOST_S = 60
Refused = Literal["not accepted", "reauthorize", "nothing there"]
REFUSALS: dict[int, Refused] = {401: "not accepted", 404: "nothing there", 410: "reauthorize"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Gateway:
    """What discovery said, and the keys of the core."""

    issuer: str
    token_endpoint: str
    keys: tuple[dict[str, Any], ...]
    fetched_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyToken:
    """The Proxy token in use."""

    value: str = field(repr=False)
    renew_at: float


class Backend:
    """Validates gateway access tokens, and turns good ones into a user's orders."""

    def __init__(self, settings: Settings, client: httpx.AsyncClient, now: Callable[[], float]) -> None:
        self._settings = settings
        self._client = client
        self._now = now
        self._gateway: Gateway | None = None
        self._gateway_lock = asyncio.Lock()
        self._proxy_token: ProxyToken | None = None
        self._proxy_lock = asyncio.Lock()
        self._forced_at = float("-inf")

    async def accepts(self, token: str) -> bool:
        """Whether this is a gateway access token for us; a key that is new is fetched before it says no."""
        gateway = await self._known_gateway(KEYS_FOR_S)
        claims = signed_claims(token, gateway.keys)
        if claims is None:
            gateway = await self._known_gateway(KEYS_AGAIN_AFTER_S)
            claims = signed_claims(token, gateway.keys)
        return claims is not None and acceptable(
            claims, issuer=gateway.issuer, indicator=self._settings.indicator, now=self._now()
        )

    async def orders(self, token: str) -> list[Any] | Refused:
        """The user's orders, fetched with the merchant token behind their gateway access token."""
        proxy_token = await self._current_proxy_token()
        answer = await self._redeem(token, proxy_token)
        if answer.status == 401 and (renewed := await self._renewed(proxy_token)):
            # The Proxy token may have ended early; if it was the user's, this answers 401 again.
            answer = await self._redeem(token, renewed)
        if answer.status in REFUSALS:
            return REFUSALS[answer.status]
        merchant_token = answer.document.get("access_token")
        if answer.status != 200 or not isinstance(merchant_token, str):
            raise Unavailable
        url = f"{self._settings.merchant_api_url}/orders"
        headers = {"authorization": f"Bearer {merchant_token}"}
        orders = await ask(self._client, "GET", url, headers=headers)
        found = orders.document.get("orders")
        if orders.status != 200 or not isinstance(found, list):
            raise Unavailable
        return found

    async def _known_gateway(self, max_age_s: float) -> Gateway:
        async with self._gateway_lock:
            known = self._gateway
            if known is None or self._now() - known.fetched_at >= max_age_s:
                self._gateway = known = await self._discover()
            return known

    async def _discover(self) -> Gateway:
        """Endpoints and keys are read from the document of the Resource's authorization server."""
        url = f"{self._settings.authorization_server}/.well-known/openid-configuration"
        document = (await ask(self._client, "GET", url)).document
        issuer, endpoint, jwks_uri = (document.get(name) for name in ("issuer", "token_endpoint", "jwks_uri"))
        if not (isinstance(issuer, str) and isinstance(endpoint, str) and isinstance(jwks_uri, str)):
            raise Unavailable
        keys = (await ask(self._client, "GET", jwks_uri)).document.get("keys")
        if not isinstance(keys, list):
            raise Unavailable
        return Gateway(
            issuer=issuer,
            token_endpoint=endpoint,
            keys=tuple(key for key in keys if isinstance(key, dict)),
            fetched_at=self._now(),
        )

    async def _current_proxy_token(self) -> str:
        """The cached Proxy token; whoever comes while it is renewed waits for that one request."""
        async with self._proxy_lock:
            if self._proxy_token is None or self._now() >= self._proxy_token.renew_at:
                self._proxy_token = await self._new_proxy_token()
            return self._proxy_token.value

    async def _renewed(self, refused: str) -> str | None:
        """Another Proxy token than the refused one, or None: one bad user must not renew it all the time."""
        async with self._proxy_lock:
            now = self._now()
            if self._proxy_token is not None and self._proxy_token.value != refused:
                return self._proxy_token.value
            if now - self._forced_at < FORCED_AGAIN_AFTER_S:
                return None
            self._forced_at = now
            self._proxy_token = await self._new_proxy_token()
            return self._proxy_token.value

    async def _new_proxy_token(self) -> ProxyToken:
        gateway, now = await self._known_gateway(KEYS_FOR_S), self._now()
        client_id, secret = self._settings.proxy_client_id, self._settings.proxy_client_secret
        pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
        answer = await ask(
            self._client,
            "POST",
            gateway.token_endpoint,
            headers={"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"},
            data={"grant_type": "client_credentials"},
        )
        value, life = answer.document.get("access_token"), answer.document.get("expires_in")
        if answer.status != 200 or not isinstance(value, str):
            raise Unavailable
        seconds = float(life) if isinstance(life, int | float) else 0.0
        return ProxyToken(value=value, renew_at=now + seconds - min(NEAR_EXPIRY_AT_MOST_S, seconds / 10))

    async def _redeem(self, token: str, proxy_token: str) -> Answer:
        return await ask(
            self._client,
            "POST",
            f"{self._settings.base_url}/api/credentials/token",
            headers={"authorization": f"Bearer {token}", "x-proxy-token": proxy_token},
            json={"resource": self._settings.indicator},
        )
