"""A foreign token issuer, which no party trusts. It publishes its keys like any issuer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from gateproof.fakes.loopback import LoopbackServer

# The well-known path of the discovery document is after the issuer's path, or before it (RFC 8414).
_DOCUMENTS = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
_KEYS = "/keys"


class OtherIssuer(LoopbackServer):
    """Listens at localhost inside its `with` block, over TLS if it has a certificate."""

    def __init__(self, jwk: Mapping[str, Any], certificate: tuple[str, str] | None) -> None:
        self._key_set = {"keys": [dict(jwk)]}
        super().__init__(self._handler(), certificate)
        self.url = self.origin.replace("127.0.0.1", "localhost")

    def _document(self, path: str) -> Mapping[str, Any]:
        """The key set or a discovery document, for an issuer with any path."""
        for known in _DOCUMENTS:
            if known in path:
                issuer = self.url + path.replace(known, "", 1)
                return {
                    "issuer": issuer,
                    "jwks_uri": f"{self.url}{_KEYS}",
                    "authorization_endpoint": f"{issuer}/authorize",
                    "token_endpoint": f"{issuer}/token",
                    "response_types_supported": ["code"],
                    "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": [self._key_set["keys"][0].get("alg", "ES256")],
                }
        return self._key_set

    def _handler(issuer) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's, inside
        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                body = json.dumps(issuer._document(urlsplit(self.path).path)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                """No log."""

        return Handler
