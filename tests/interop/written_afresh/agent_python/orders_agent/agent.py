"""One run: call the service, get authorized where it asks for that, call again, and give up in the end."""

from __future__ import annotations

import logging
from typing import Any

from .authorization import authorize
from .discovery import Gateway, find_gateway
from .errors import AgentError, ClientRejected, CodeRefused
from .registration import register
from .service import Challenge, Service
from .settings import Settings
from .store import Client, Store, Tokens
from .tokens import TokenEndpoint
from .web import Web

AUTHORIZATIONS_A_RUN = 3
FRESH_TOKENS_A_RUN = 2

log = logging.getLogger("orders_agent")


class Agent:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = Store(settings.state_dir)
        self._web = Web(settings.ca_file)
        self._service = Service(self._web, settings.service_url)
        self._may_refresh = True
        self._authorizations = 0

    async def run(self) -> list[Any]:
        kept = self._store.tokens(self._settings.service_url)
        # By the clock: a token that is over is not even tried.
        access_token = kept.access_token if kept and not kept.expired() else None
        for _ in range(1 + FRESH_TOKENS_A_RUN):
            answer = await self._service.orders(access_token)
            if not isinstance(answer, Challenge):
                return answer
            log.info("the service asks for a token")
            access_token = (await self._fresh_tokens(answer)).access_token
        answer = await self._service.orders(access_token)
        if isinstance(answer, Challenge):
            raise AgentError("The service refuses even fresh tokens.")
        return answer

    async def _fresh_tokens(self, challenge: Challenge) -> Tokens:
        gateway = await find_gateway(self._web, self._settings.service_url, challenge.metadata_url)
        async with self._store.locked():
            tokens = await self._refreshed(gateway) or await self._authorized(gateway)
            self._store.keep_tokens(self._settings.service_url, tokens)
        return tokens

    async def _refreshed(self, gateway: Gateway) -> Tokens | None:
        """New tokens without the user, where the same gateway gave a refresh token; once a run."""
        kept = self._store.tokens(self._settings.service_url)
        client = self._store.client(gateway.authorization_server)
        if not (self._may_refresh and client and kept and kept.refresh_token):
            return None
        if kept.authorization_server != gateway.authorization_server:
            return None
        self._may_refresh = False
        try:
            tokens = await TokenEndpoint(self._web, gateway, client).refresh(kept.refresh_token)
        except AgentError as error:
            log.info("refreshing did not work (%s), so the user is asked", type(error).__name__)
            return None
        log.info("tokens refreshed")
        return tokens

    async def _authorized(self, gateway: Gateway) -> Tokens:
        while self._authorizations < AUTHORIZATIONS_A_RUN:
            self._authorizations += 1
            client = await self._client(gateway)
            log.info("asking the user to authorize this agent")
            code = await authorize(self._settings, gateway, client, self._settings.scopes)
            try:
                return await TokenEndpoint(self._web, gateway, client).exchange(code)
            except CodeRefused:
                log.info("the code was refused; starting over")
            except ClientRejected:
                log.info("the client was rejected; registering again")
                self._store.keep_client(gateway.authorization_server, None)
        raise AgentError("The gateway gave no tokens, however often it was asked.")

    async def _client(self, gateway: Gateway) -> Client:
        client = self._store.client(gateway.authorization_server)
        if client is None or client.redirect_uri != self._settings.callback_url:
            client = await register(self._web, gateway, self._settings.callback_url)
            self._store.keep_client(gateway.authorization_server, client)  # before anything can go wrong
            log.info("registered at the gateway")
        return client
