"""The token endpoint: exchange and refresh, by Authlib, with the client's credentials in the form."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client

from .authorization import Code
from .discovery import Gateway
from .errors import ClientRejected, CodeRefused, Unreachable
from .registration import AUTH_METHOD
from .store import Client, Tokens
from .web import SECONDS_A_REQUEST, Web


class TokenEndpoint:
    def __init__(self, web: Web, gateway: Gateway, client: Client) -> None:
        self._options = web.options
        self._gateway = gateway
        self._client = client

    async def exchange(self, code: Code) -> Tokens:
        return await self._ask(
            lambda oauth: oauth.fetch_token(
                self._gateway.token_endpoint,
                grant_type="authorization_code",
                code=code.code,
                code_verifier=code.verifier,
                redirect_uri=self._client.redirect_uri,
            )
        )

    async def refresh(self, refresh_token: str) -> Tokens:
        # Without a new refresh token in the answer, the one that was sent stays good.
        return await self._ask(
            lambda oauth: oauth.refresh_token(self._gateway.token_endpoint, refresh_token=refresh_token),
            refresh_token,
        )

    async def _ask(self, grant: Any, refresh_token: str | None = None) -> Tokens:
        asked_at = time.time()
        try:
            async with (
                asyncio.timeout(SECONDS_A_REQUEST),
                AsyncOAuth2Client(
                    self._client.client_id,
                    self._client.client_secret,
                    token_endpoint_auth_method=AUTH_METHOD,
                    **self._options,
                ) as oauth,
            ):
                answer = await grant(oauth)
        except OAuthError as error:
            # The description is the gateway's text and may quote the request: it is not passed on.
            if error.error == "invalid_grant":
                raise CodeRefused("The gateway refused the code.") from None
            if error.error in ("invalid_client", "unauthorized_client"):
                raise ClientRejected("The gateway rejected this agent's client.") from None
            raise Unreachable("The gateway refused the token request.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, ValueError, TypeError) as error:
            raise Unreachable(f"The token endpoint gave no tokens ({type(error).__name__}).") from None
        return self._tokens(answer, asked_at, refresh_token)

    def _tokens(self, answer: dict[str, Any], asked_at: float, refresh_token: str | None) -> Tokens:
        access_token = answer.get("access_token")
        if not isinstance(access_token, str) or not access_token.isascii() or not access_token.isprintable():
            raise Unreachable("The token endpoint gave no access token.")
        if str(answer.get("token_type", "bearer")).lower() != "bearer":
            raise Unreachable("The token endpoint gave a token of an unknown type.")
        lifetime = answer.get("expires_in")
        known = isinstance(lifetime, (int, float)) and not isinstance(lifetime, bool)
        new = answer.get("refresh_token")
        return Tokens(
            authorization_server=self._gateway.authorization_server,
            access_token=access_token,
            refresh_token=new if isinstance(new, str) and new else refresh_token,
            expires_at=asked_at + lifetime if known else None,
        )
