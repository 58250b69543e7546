"""Services that accept a Proxy token response in one exact form only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import proxy

_KNOWN = frozenset({"access_token", "token_type", "expires_in"})
Kept = Callable[[Mapping[str, Any], float], proxy.ProxyToken | None]


def kept_if(fits: Callable[[Mapping[str, Any]], bool]) -> Kept:
    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        return proxy.proxy_token_kept(document, now) if fits(document) else None

    return kept


DEFECTS = (
    defect(
        "proxy-token-of-three-members (SERVE-01): The service refuses a Proxy token response with an unknown "
        "member.",
        proxy_token_kept=kept_if(lambda document: document.keys() <= _KNOWN),
    ),
    defect(
        "proxy-token-with-a-scope-refused (SERVE-01): The service refuses a Proxy token response with a "
        "scope.",
        proxy_token_kept=kept_if(lambda document: "scope" not in document),
    ),
    defect(
        "proxy-token-type-in-one-case (SERVE-01): The service refuses a Proxy token response whose "
        "token_type is not spelled Bearer.",
        proxy_token_kept=kept_if(lambda document: document.get("token_type") == "Bearer"),
    ),
    defect(
        "proxy-token-of-flat-members (SERVE-01): The service refuses a Proxy token response with an object "
        "as a member.",
        proxy_token_kept=kept_if(
            lambda document: not any(isinstance(value, dict) for value in document.values())
        ),
    ),
)
