"""The requests to redemption and to the merchant's API, and the meaning of their answers."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Answer, Asked, Kind, Outgoing

REFUSALS: Mapping[int, Kind] = MappingProxyType(
    {401: "not accepted", 404: "nothing there", 410: "reauthorize"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallFacts:
    """A call on behalf of a user, with the tokens so far."""

    asked: Asked
    settings: Settings
    token: str = field(repr=False)
    claims: Mapping[str, Any] = field(repr=False)
    proxy_token: str = field(default="", repr=False)
    merchant_token: str = field(default="", repr=False)


def redemption_request(facts: CallFacts) -> Outgoing:
    """The redemption request: the agent's token as Bearer, the Proxy token, the exact Resource indicator."""
    headers = {
        "authorization": f"Bearer {facts.token}",
        "x-proxy-token": facts.proxy_token,
        "content-type": "application/json",
    }
    return Outgoing(
        method="POST",
        url=f"{facts.settings.base_url}/api/credentials/token",
        headers=headers,
        body=json.dumps({"resource": facts.settings.indicator}).encode(),
    )


def may_be_the_proxy_token(answer: Answer) -> bool:
    """True for a 401, whose reason may be the Proxy token or the user's token."""
    return answer.status == 401


def merchant_token_in(_facts: CallFacts, answer: Answer) -> str | None:
    """The merchant token of a successful redemption."""
    token = answer.document.get("access_token")
    return token if answer.status == 200 and isinstance(token, str) and token else None


def merchant_request(facts: CallFacts) -> Outgoing:
    """The request to the merchant, with no other credential than the merchant token."""
    return Outgoing(
        method="GET",
        url=f"{facts.settings.merchant_api_url}/orders",
        headers={"authorization": f"Bearer {facts.merchant_token}"},
    )


def orders_in(_facts: CallFacts, answer: Answer) -> list[Any] | None:
    """The orders; None if the merchant's answer has none."""
    orders = answer.document.get("orders")
    return orders if answer.status == 200 and isinstance(orders, list) else None


def cache_key(facts: CallFacts) -> Hashable:
    """The cache key of a merchant token: the gateway access token."""
    return facts.token


def cached_until(_document: Mapping[str, Any], now: float) -> float:
    """Merchant tokens are not cached: every call redeems, so that the gateway decides each time."""
    return now


def fallback_token(_facts: CallFacts, _answer: Answer) -> str | None:
    """There is no fallback for a merchant token."""
    return None
