"""The guard of the MCP endpoint: challenge, metadata document and token check, in FastMCP's terms."""

from __future__ import annotations

import logging

from fastmcp.server.auth import AccessToken, RemoteAuthProvider, TokenVerifier
from pydantic import AnyHttpUrl
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .errors import KeysUnavailable
from .logs import log
from .settings import Settings
from .tokens import InvalidToken, TokenValidator


class GatewayTokenVerifier(TokenVerifier):
    def __init__(self, validator: TokenValidator) -> None:
        super().__init__()
        self._validator = validator

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            gateway_token = await self._validator.validate(token)
        except InvalidToken as error:
            log(logging.INFO, "token_refused", reason=error.reason)
            return None
        # A session belongs to who began it. The inner structure of ext.agent is not specified, so
        # the user stands for the client: sessions are told apart by issuer and subject.
        return AccessToken(
            token=gateway_token.value,
            client_id=gateway_token.subject,
            subject=gateway_token.subject,
            scopes=[],
            expires_at=gateway_token.expires_at,
            claims=gateway_token.claims,
        )


class GatewayAuth(RemoteAuthProvider):
    """Publishes the metadata document, answers 401 with a pointer to it, and 503 while there are no keys."""

    def __init__(self, settings: Settings, validator: TokenValidator) -> None:
        super().__init__(
            token_verifier=GatewayTokenVerifier(validator),
            authorization_servers=[AnyHttpUrl(settings.authorization_server)],
            base_url=settings.service_url,
        )

    def get_middleware(self) -> list[Middleware]:
        return [Middleware(UnavailableWithoutKeys), *super().get_middleware()]


class UnavailableWithoutKeys:
    """A token that cannot be checked is neither good nor bad: the caller is asked to come again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except KeysUnavailable:
            answer = JSONResponse({"error": "temporarily_unavailable"}, 503, headers={"Retry-After": "2"})
            await answer(scope, receive, send)
