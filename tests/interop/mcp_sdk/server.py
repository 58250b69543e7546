"""An operator's MCP service, made with the official SDK and protected by the gateway.

It is configured by the variables that a launched service gets, serves streamable HTTP at /mcp and has one
tool, `list_orders`. It needs the environment of `make mcp-sdk`.
"""

from __future__ import annotations

import argparse
import os
import ssl
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import create_protected_resource_routes
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

# A token's header may not choose: only signatures that need a private key.
ALGORITHMS = ["ES256", "ES384", "EdDSA", "PS256", "RS256"]
# A Proxy token is renewed this long before its end.
EARLY_S = 60.0
FACADE = "/facade"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What an operator copies out of the Console, and where the service itself is."""

    service_url: str
    base_url: str
    core_url: str
    authorization_server: str
    indicator: str
    proxy_client_id: str
    proxy_client_secret: str
    merchant_api_url: str
    ca_file: str

    @classmethod
    def from_environment(cls) -> Settings:
        names = {
            "service_url": "SERVICE_URL",
            "base_url": "BASE_URL",
            "core_url": "CORE_URL",
            "authorization_server": "AUTHORIZATION_SERVER",
            "indicator": "RESOURCE_INDICATOR",
            "proxy_client_id": "PROXY_CLIENT_ID",
            "proxy_client_secret": "PROXY_CLIENT_SECRET",
            "merchant_api_url": "MERCHANT_API_URL",
            "ca_file": "CA_FILE",
        }
        return cls(**{field: os.environ[f"GATEPROOF_{name}"] for field, name in names.items()})


class GatewayTokens:
    """The SDK's TokenVerifier: accepts the access tokens of one Resource's gateway and no other token."""

    def __init__(self, settings: Settings, http: httpx2.AsyncClient, trust: ssl.SSLContext) -> None:
        self._settings = settings
        self._http = http
        self._trust = trust
        self._issuer = ""
        self._keys: jwt.PyJWKClient | None = None

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = await self._claims(token)
        except (jwt.PyJWTError, httpx2.HTTPError):
            return None
        extension = claims.get("ext")
        project = extension.get("project_id") if isinstance(extension, dict) else None
        if not isinstance(project, str) or not project:
            return None
        return AccessToken(
            token=token,
            client_id=str(claims.get("client_id") or "unknown agent"),
            scopes=str(claims.get("scope", "")).split(),
            expires_at=int(claims["exp"]),
            subject=str(claims["sub"]),
            claims={"iss": claims["iss"]},
        )

    async def _claims(self, token: str) -> dict[str, object]:
        """Key set and issuer come from discovery; the audience is the merchant API's, not this service's."""
        keys = self._keys or await self._discover()
        key = await anyio.to_thread.run_sync(keys.get_signing_key_from_jwt, token)
        return jwt.decode(
            token,
            key,
            algorithms=ALGORITHMS,
            issuer=self._issuer,
            audience=self._settings.indicator,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )

    async def _discover(self) -> jwt.PyJWKClient:
        document = await self._http.get(
            f"{self._settings.authorization_server}/.well-known/openid-configuration"
        )
        found = document.raise_for_status().json()
        self._issuer = found["issuer"]
        self._keys = jwt.PyJWKClient(found["jwks_uri"], ssl_context=self._trust, timeout=10)
        return self._keys


class Redemption:
    """Trades the agent's access token for the merchant token, which stays in here."""

    def __init__(self, settings: Settings, http: httpx2.AsyncClient) -> None:
        self._settings = settings
        self._http = http
        self._lock = anyio.Lock()
        self._proxy_token = ""
        self._renew_at = 0.0

    async def orders(self, access_token: str) -> list[dict[str, str]]:
        redeemed = await self._http.post(
            f"{self._settings.base_url}/api/credentials/token",
            headers={
                "Authorization": f"Bearer {access_token}",
                "X-Proxy-Token": await self._current_proxy_token(),
            },
            json={"resource": self._settings.indicator},
        )
        if redeemed.status_code == 410:
            raise ToolError("the merchant asks the user to authorize again")
        merchant_token = redeemed.raise_for_status().json()["access_token"]
        answer = await self._http.get(
            f"{self._settings.merchant_api_url}/orders",
            headers={"Authorization": f"Bearer {merchant_token}"},
        )
        return [
            {"id": order["id"], "item": order["item"]} for order in answer.raise_for_status().json()["orders"]
        ]

    async def _current_proxy_token(self) -> str:
        async with self._lock:
            if time.monotonic() >= self._renew_at:
                answer = await self._http.post(
                    f"{self._settings.core_url}/oauth2/token",
                    auth=(self._settings.proxy_client_id, self._settings.proxy_client_secret),
                    data={"grant_type": "client_credentials"},
                )
                granted = answer.raise_for_status().json()
                self._proxy_token = granted["access_token"]
                self._renew_at = time.monotonic() + granted["expires_in"] - EARLY_S
            return self._proxy_token


def make_app(settings: Settings, publish: str, scopes: list[str] | None) -> Starlette:
    trust = ssl.create_default_context(cafile=settings.ca_file)
    http = httpx2.AsyncClient(verify=trust, trust_env=False, timeout=20)
    redemption = Redemption(settings, http)
    resource = AnyHttpUrl(f"{settings.service_url}/mcp")
    server = MCPServer(
        "orders",
        log_level="CRITICAL",
        token_verifier=GatewayTokens(settings, http, trust),
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(settings.authorization_server),
            resource_server_url=resource,
            required_scopes=scopes,
            # The gateway's audience is the Resource indicator; this check would compare it with our own URL.
            validate_token_resource=False,
        ),
    )

    @server.tool()
    async def list_orders() -> list[dict[str, str]]:
        """The user's orders at the merchant."""
        caller = get_access_token()
        if caller is None:
            raise ToolError("no user")
        try:
            return await redemption.orders(caller.token)
        except httpx2.HTTPError:
            # Its text would name addresses and answers that are none of the agent's business.
            raise ToolError("the orders cannot be had now") from None

    app = server.streamable_http_app(json_response=True)
    if published := authorization_servers(settings, publish):
        # The SDK's own route names `issuer_url` alone; the first route that matches wins.
        app.router.routes[:0] = create_protected_resource_routes(resource, published, scopes)
    if publish == "facade":
        app.router.routes[:0] = [facade(settings, http)]
    return app


def authorization_servers(settings: Settings, publish: str) -> list[AnyHttpUrl]:
    """Further authorization servers in front of the per-Resource one, for the trials that need them."""
    further = {"core-first": settings.core_url, "facade": settings.service_url + FACADE}.get(publish)
    return [AnyHttpUrl(further), AnyHttpUrl(settings.authorization_server)] if further else []


def facade(settings: Settings, http: httpx2.AsyncClient) -> Route:
    """The gateway's endpoints under an issuer of the operator's own: a temptation, see docs/mcp-sdk.md."""

    async def document(_request: Request) -> Response:
        url = f"{settings.authorization_server}/.well-known/openid-configuration"
        found = (await http.get(url)).raise_for_status().json()
        found["issuer"] = settings.service_url + FACADE
        del found["authorization_response_iss_parameter_supported"]
        return JSONResponse(found)

    return Route(f"/.well-known/oauth-authorization-server{FACADE}", document)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", choices=["plain", "core-first", "facade"], default="plain")
    parser.add_argument("--scopes", help="scopes_supported of the metadata, space-separated")
    given = parser.parse_args()
    settings = Settings.from_environment()
    address = urlsplit(settings.service_url)
    uvicorn.run(
        make_app(settings, given.publish, given.scopes.split() if given.scopes else None),
        host=address.hostname or "127.0.0.1",
        port=address.port or 443,
        ssl_certfile=os.environ["GATEPROOF_TLS_CERT_FILE"],
        ssl_keyfile=os.environ["GATEPROOF_TLS_KEY_FILE"],
        log_level="info",
    )


if __name__ == "__main__":
    main()
