"""The one operation that the agent is for, and what it says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing

Ask = Callable[[Outgoing], Answer]
Tokens = Mapping[str, Any]


def bearer(tokens: Tokens | None) -> dict[str, str]:
    """The access token goes into the Authorization header, and no other token goes anywhere."""
    return {"Authorization": f"Bearer {tokens['access_token']}"} if tokens else {}


def operate(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """The operation over plain HTTP."""
    headers = {"Accept": "application/json", **authorization}
    return ask(Outgoing(method="GET", url=f"{settings.service_url}/orders", headers=headers))


def orders_in(answer: Answer) -> list[Any] | None:
    """The orders, where the service served them."""
    orders = answer.document().get("orders")
    return orders if answer.status == 200 and isinstance(orders, list) else None


def worth_keeping(tokens: Tokens) -> dict[str, Any]:
    """What a later run has a use for; the ID token is not among it."""
    return {"access_token": tokens["access_token"]}


def report(orders: Sequence[Any]) -> str:
    return f"read {len(orders)} orders"
