"""An operator's service for tests of gateways: it serves a user's orders over HTTPS."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

import jwt

from gateproof.fakes.loopback import LoopbackServer

METADATA_PATH = "/.well-known/oauth-protected-resource"
# Only algorithms with a public key: not "none", and no shared secrets.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES256K", "ES384", "ES512", "EdDSA"}
)
# RFC 9864 names these algorithms by their curve.
BY_CURVE = frozenset({"Ed25519", "Ed448"})
Headers = Mapping[str, str]
# Takes method, URL, headers and body; returns status and body, status 0 if there was no answer.
Send = Callable[[str, str, Headers, bytes], tuple[int, bytes]]


@dataclass(frozen=True, kw_only=True)
class ServiceConfig:
    """The configuration of the service, and the function by which it sends requests."""

    send: Send
    authorization_server: str
    token_endpoint: str
    token_request_headers: Headers
    redemption_endpoint: str
    indicator: str
    scopes: tuple[str, ...]
    merchant_api: str
    certificate: tuple[str, str]


STEP_HEADER = "X-Stopped-At"


class Refused(Exception):
    """The caller's token is not acceptable; the caller gets only the challenge."""


class BrokenUpstream(Exception):
    """The gateway or the merchant failed; the text names the step."""


class OperatorService(LoopbackServer):
    """Listens on loopback inside its `with` block."""

    def __init__(self, config: ServiceConfig) -> None:
        self._config = config
        super().__init__(self._handler(), config.certificate)
        self.url = self.origin

    def metadata(self) -> dict[str, Any]:
        """The protected resource metadata document."""
        return {
            "resource": self.url,
            "authorization_servers": [self._config.authorization_server],
            "scopes_supported": list(self._config.scopes),
            "bearer_methods_supported": ["header"],
        }

    def orders(self, authorization: str | None) -> bytes:
        """The user's orders, for a caller with a good gateway access token."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Refused
        self._validate(token)
        return self._merchant_orders(self._redeem(token))

    def _validate(self, token: str) -> None:
        """The first four validation steps; a Project mismatch is found at redemption."""
        server = self._config.authorization_server
        discovery = self._json("discovery", "GET", f"{server}/.well-known/openid-configuration", {}, b"")
        keys = self._json("key set", "GET", str(discovery.get("jwks_uri")), {}, b"").get("keys", [])
        options: Any = {"verify_iat": False, "verify_nbf": False, "require": ["exp", "iss", "aud"]}
        try:
            algorithm = jwt.get_unverified_header(token).get("alg")
        except jwt.PyJWTError:
            raise Refused from None
        if not isinstance(algorithm, str) or algorithm not in ALGORITHMS | BY_CURVE:
            raise Refused
        family = "EdDSA" if algorithm in BY_CURVE else algorithm
        for key in keys:
            try:
                jwt.decode(
                    token,
                    jwt.PyJWK(key, algorithm=family),
                    algorithms=[algorithm],
                    audience=self._config.indicator,
                    issuer=str(discovery.get("issuer")),
                    leeway=60,
                    options=options,
                )
            except jwt.PyJWTError:
                continue
            return
        raise Refused

    def _redeem(self, token: str) -> str:
        config = self._config
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        proxy = self._json(
            "Proxy token",
            "POST",
            config.token_endpoint,
            {**form, **config.token_request_headers},
            b"grant_type=client_credentials",
        )
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {token}",
            "X-Proxy-Token": str(proxy.get("access_token")),
        }
        body = json.dumps({"resource": config.indicator}).encode()
        answer = self._json("redemption", "POST", config.redemption_endpoint, headers, body)
        return str(answer.get("access_token"))

    def _merchant_orders(self, merchant_token: str) -> bytes:
        headers = {"Authorization": f"Bearer {merchant_token}"}
        status, body = self._config.send("GET", f"{self._config.merchant_api}/orders", headers, b"")
        if status != 200:
            raise BrokenUpstream("merchant API")
        return body

    def _json(self, step: str, method: str, url: str, headers: Headers, body: bytes) -> dict[str, Any]:
        status, answer = self._config.send(method, url, headers, body)
        try:
            document = json.loads(answer) if status == 200 else None
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise BrokenUpstream(step)
        return document

    def _handler(service) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's, inside
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path == METADATA_PATH:
                    self._answer(200, json.dumps(service.metadata()).encode())
                elif self.path == "/orders":
                    self._orders()
                else:
                    self._answer(404, b"{}")

            def _orders(self) -> None:
                try:
                    self._answer(200, service.orders(self.headers.get("Authorization")))
                except Refused:
                    pointer = f'Bearer resource_metadata="{service.url}{METADATA_PATH}"'
                    self._answer(401, b"{}", ("WWW-Authenticate", pointer), (STEP_HEADER, "validation"))
                except BrokenUpstream as broken:
                    self._answer(502, b"{}", (STEP_HEADER, str(broken)))

            def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
                self.send_response(status)
                for name, value in (("Content-Type", "application/json"), *headers):
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                """Logs nothing."""

        return Handler
