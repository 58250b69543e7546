"""Redemption: the agent's token and the Proxy token are exchanged for the user's merchant token."""

from __future__ import annotations

import logging

import httpx

from .errors import AccessRefused, BackendError, NotConnected, ReauthenticationRequired
from .http import Answer, request
from .logs import log
from .proxy_token import HEADER_VALUE, ProxyTokens
from .settings import Settings

REFUSALS: dict[int, type[BackendError]] = {
    401: AccessRefused,
    404: NotConnected,
    410: ReauthenticationRequired,
}


class Redeemer:
    def __init__(self, client: httpx.AsyncClient, settings: Settings, proxy_tokens: ProxyTokens) -> None:
        self._client = client
        self._settings = settings
        self._proxy_tokens = proxy_tokens

    async def merchant_token(self, gateway_token: str) -> str:
        proxy_token = await self._proxy_tokens.get()
        answer = await self._redeem(gateway_token, proxy_token)
        if answer.status == 401 and self._proxy_tokens.refused(proxy_token):
            answer = await self._redeem(gateway_token, await self._proxy_tokens.get())
        if answer.status != 200:
            log(logging.WARNING, "redemption_refused", status=answer.status)
            raise REFUSALS.get(answer.status, BackendError)
        token = answer.json_object().get("access_token")
        if not isinstance(token, str) or not HEADER_VALUE.fullmatch(token):
            log(logging.ERROR, "redemption_unreadable")
            raise BackendError
        return token

    async def _redeem(self, gateway_token: str, proxy_token: str) -> Answer:
        return await request(
            self._client,
            "redemption",
            "POST",
            self._settings.redemption_url,
            headers={
                "Authorization": f"Bearer {gateway_token}",
                "X-Proxy-Token": proxy_token,
                "Accept": "application/json",
            },
            json={"resource": self._settings.resource_indicator},
        )
