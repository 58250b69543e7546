"""The requests of an operator's backend, as the specification defines them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from gateproof.conformance.wire.agent import JSON_BODY, form_post
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.secret import Secret


@dataclass(slots=True)
class Spelling:
    """How a gateway decodes the parts of a Basic header.

    The specification uses them unchanged; RFC 6749 section 2.3.1 form-encodes them first. If the encoding
    changes a part, a gateway accepts only one of the two.
    """

    encoded: bool = False

    def other(self) -> Spelling:
        return Spelling(encoded=not self.encoded)

    def basic(self, client_id: str, client_secret: str) -> tuple[str, str]:
        """An HTTP Basic header."""
        parts = (quote(part, safe="") if self.encoded else part for part in (client_id, client_secret))
        return "Authorization", "Basic " + base64.b64encode(":".join(parts).encode()).decode("ascii")


def basic(client_id: str, client_secret: str) -> tuple[str, str]:
    """An HTTP Basic header as in the specification."""
    return Spelling().basic(client_id, client_secret)


def proxy_token(endpoint: str, client_id: str, client_secret: Secret, known: Spelling) -> tuple[Request, ...]:
    """The request for a Proxy token; if the two spellings differ, both requests, the known one first."""
    headers = (each.basic(client_id, client_secret.reveal()) for each in (known, known.other()))
    grant = [("grant_type", "client_credentials")]
    return tuple(form_post(endpoint, grant, header) for header in dict.fromkeys(headers))


def redemption_endpoint(base_url: str) -> str:
    return f"{base_url}/api/credentials/token"


def resource_body(resource: Any) -> bytes:
    return json.dumps({"resource": resource}).encode()


def redemption(base_url: str, *, bearer: Secret | None, proxy_token: Secret | None, resource: Any) -> Request:
    """A redemption; credentials that are None are omitted."""
    headers = [JSON_BODY, ("Accept", "application/json")]
    if bearer is not None:
        headers.append(("Authorization", f"Bearer {bearer.reveal()}"))
    if proxy_token is not None:
        headers.append(("X-Proxy-Token", proxy_token.reveal()))
    return Request(
        method="POST",
        url=redemption_endpoint(base_url),
        headers=tuple(headers),
        body=resource_body(resource),
    )


def merchant_orders(api_url: str, merchant_token: Secret) -> Request:
    """The request to the merchant API for the user's orders."""
    return Request(
        method="GET",
        url=f"{api_url}/orders",
        headers=(("Authorization", f"Bearer {merchant_token.reveal()}"), ("Accept", "application/json")),
    )
