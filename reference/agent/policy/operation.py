"""The operation of the agent: reading the orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing

Ask = Callable[[Outgoing], Answer]
Tokens = Mapping[str, Any]


def bearer(tokens: Tokens | None) -> dict[str, str]:
    """The access token in the Authorization header; no other token is sent."""
    return {"Authorization": f"Bearer {tokens['access_token']}"} if tokens else {}


def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """The operation over plain HTTP."""
    headers = {"Accept": "application/json", **authorization}
    return ask(Outgoing(method="GET", url=f"{settings.service_url}/orders", headers=headers))


def orders_in(answer: Answer) -> list[Any] | None:
    """The orders; None if the service did not serve them."""
    orders = answer.document().get("orders")
    return orders if answer.status == 200 and isinstance(orders, list) else None


def worth_keeping(tokens: Tokens) -> dict[str, Any]:
    """The tokens to store for later runs; not the ID token."""
    return {"access_token": tokens["access_token"]}


def report(orders: Sequence[Any]) -> str:
    return f"read {len(orders)} orders"
