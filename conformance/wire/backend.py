"""The requests of an operator's backend, as the specification has them on the wire."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

from conformance.wire.agent import JSON_BODY, form_post
from conformance.wire.exchange import Request
from conformance.wire.secret import Secret


def basic(client_id: str, client_secret: str) -> tuple[str, str]:
    """An HTTP Basic header of form-encoded parts, as RFC 6749 section 2.3.1 builds it."""
    pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}".encode()
    return "Authorization", "Basic " + base64.b64encode(pair).decode("ascii")


def proxy_token(endpoint: str, client_id: str, client_secret: Secret) -> Request:
    """A Proxy client asks for its Proxy token."""
    return form_post(
        endpoint, [("grant_type", "client_credentials")], basic(client_id, client_secret.reveal())
    )


def redemption_endpoint(base_url: str) -> str:
    return f"{base_url}/api/credentials/token"


def resource_body(resource: Any) -> bytes:
    return json.dumps({"resource": resource}).encode()


def redemption(base_url: str, *, bearer: Secret | None, proxy_token: Secret | None, resource: Any) -> Request:
    """A redemption; a credential that is None is left out."""
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
    """The merchant API is asked for the user's orders."""
    return Request(
        method="GET",
        url=f"{api_url}/orders",
        headers=(("Authorization", f"Bearer {merchant_token.reveal()}"), ("Accept", "application/json")),
    )
