"""The request for a Proxy token, and how long it is used."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Outgoing, form

NEAR_EXPIRY_AT_MOST_S = 60
FORCED_AGAIN_AFTER_S = 0.15


@dataclass(frozen=True, kw_only=True, slots=True)
class ProxyToken:
    """A Proxy token, and when to renew it."""

    value: str = field(repr=False)
    renew_at: float


def basic(client_id: str, secret: str) -> str:
    """Basic credentials, with both parts form-encoded (RFC 6749 section 2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def proxy_token_request(settings: Settings, token_endpoint: str) -> Outgoing:
    """The credentials are in the header; the form has only the grant type."""
    authorization = basic(settings.proxy_client_id, settings.proxy_client_secret)
    return form(token_endpoint, {"grant_type": "client_credentials"}, authorization=authorization)


def proxy_token_kept(document: Mapping[str, Any], now: float) -> ProxyToken | None:
    """The Proxy token of an answer, with its renewal time shortly before expiry; None without one."""
    value, life = document.get("access_token"), document.get("expires_in")
    if not isinstance(value, str) or not value:
        return None
    seconds = float(life) if isinstance(life, int | float) else 0.0
    return ProxyToken(value=value, renew_at=now + seconds - min(NEAR_EXPIRY_AT_MOST_S, seconds / 10))


def is_due(token: ProxyToken, now: float) -> bool:
    return now >= token.renew_at


def may_force(since_last_s: float) -> bool:
    """A refused Proxy token is replaced early, but not too often: the reason may be the user's token."""
    return since_last_s >= FORCED_AGAIN_AFTER_S
