"""What redemption is asked, what its answers mean, and what the merchant's API is asked then."""

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
    """A call on behalf of a user, as far as it has come."""

    asked: Asked
    settings: Settings
    token: str = field(repr=False)
    claims: Mapping[str, Any] = field(repr=False)
    proxy_token: str = field(default="", repr=False)
    merchant_token: str = field(default="", repr=False)


def redemption_request(facts: CallFacts) -> Outgoing:
    """The agent's token as Bearer, the Proxy token bare, the Resource indicator to the letter."""
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
    """A 401 may be about the Proxy token, or about the user's."""
    return answer.status == 401


def merchant_token_in(_facts: CallFacts, answer: Answer) -> str | None:
    """The merchant token of a redemption that succeeded."""
    token = answer.document.get("access_token")
    return token if answer.status == 200 and isinstance(token, str) and token else None


def merchant_request(facts: CallFacts) -> Outgoing:
    """The merchant is shown the merchant token, and nothing else that the service holds."""
    return Outgoing(
        method="GET",
        url=f"{facts.settings.merchant_api_url}/orders",
        headers={"authorization": f"Bearer {facts.merchant_token}"},
    )


def orders_in(_facts: CallFacts, answer: Answer) -> list[Any] | None:
    """The orders, if the merchant gave some."""
    orders = answer.document.get("orders")
    return orders if answer.status == 200 and isinstance(orders, list) else None


def kept_under(facts: CallFacts) -> Hashable:
    """A merchant token that is kept at all belongs to the one gateway access token that it came for."""
    return facts.token


def kept_until(_document: Mapping[str, Any], now: float) -> float:
    """No merchant token is kept: every call redeems its own, and the gateway has the last word each time."""
    return now


def stand_in(_facts: CallFacts, _answer: Answer) -> str | None:
    """Nothing stands in for a merchant token that the gateway did not give."""
    return None
