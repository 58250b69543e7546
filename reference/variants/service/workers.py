"""Services of several processes, each with a Proxy token of its own."""

from __future__ import annotations

import random
from contextvars import ContextVar
from typing import Any

from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outgoing
from gateproof.reference.variants.variant import variant

WORKERS = 4


def dropped_when_refused() -> dict[str, Any]:
    """A call whose Proxy token is refused fails; the worker's next call gets another token."""
    used: ContextVar[str] = ContextVar("used", default="")
    refused: set[str] = set()

    def asked(facts: CallFacts) -> Outgoing:
        used.set(facts.proxy_token)
        return redemption.redemption_request(facts)

    def never_again(answer: Answer) -> bool:
        refused.update([used.get()] if answer.status == 401 else [])
        return False

    def due(token: proxy.ProxyToken, now: float) -> bool:
        return token.value in refused or proxy.is_due(token, now)

    return {"redemption_request": asked, "warrants_new_proxy_token": never_again, "proxy_token_is_due": due}


VARIANTS = (
    variant(
        "workers-that-drop-a-refused-token: any of four workers, each with a Proxy token of its own, serves "
        "a call; if the token is refused, the call fails, and the worker's next call gets another token",
        proxy_slot=lambda: random.randrange(WORKERS),  # noqa: S311 - no secret
        **dropped_when_refused(),
    ),
)
