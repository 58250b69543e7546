"""Services that use a Proxy token for too short a time, or for too long."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.certificates import for_a_proxy_token, unverified
from gateproof.reference.defects.service.failing_parties import following, for_a_token, garbage_kept
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import proxy
from gateproof.reference.service.upstream import Patience

# On a busy machine calls at once are served late; a service that gives them up serves none and shows nothing.
WAITS_LONG = Patience(tries=1, answer_s=10)


def hardly_ever(_token: proxy.ProxyToken, _now: float) -> bool:
    return False


def once_alone() -> Any:
    """A timer is set for the first Proxy token, and nobody sets it again."""
    timers: list[float] = []

    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token = proxy.proxy_token_kept(document, now)
        if token is not None and timers:
            return replace(token, renew_at=math.inf)
        timers.extend([token.renew_at] if token is not None else ())
        return token

    return kept


def in_milliseconds(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
    token = proxy.proxy_token_kept(document, now)
    life = document.get("expires_in")
    late = now + (life if isinstance(life, int | float) else 0) / 1000
    return replace(token, renew_at=late) if token is not None else None


DEFECTS = (
    defect(
        "proxy-token-for-each-call (BACK-02): Every call gets a Proxy token of its own.",
        proxy_token_is_due=lambda _token, _now: True,
    ),
    defect(
        "proxy-token-for-three-seconds (BACK-02): The lifetime of a Proxy token is taken for milliseconds.",
        proxy_token_kept=in_milliseconds,
    ),
    defect(
        "first-calls-do-not-wait (BACK-02): Calls that come before there is a Proxy token each ask for one.",
        one_at_a_time=contextlib.nullcontext,
        patience=WAITS_LONG,
    ),
    defect(
        "proxy-token-for-ever (BACK-03): The first Proxy token is used for ever.",
        proxy_token_is_due=hardly_ever,
        mends=lambda _answer: False,
    ),
    defect(
        "proxy-token-renewed-once (BACK-03): The first Proxy token is renewed when its time is over, and "
        "the second is used for ever.",
        proxy_token_kept=once_alone(),
        mends=lambda _answer: False,
    ),
    defect(
        "garbage-kept-when-a-proxy-token-is-over (BACK-06 BACK-04 BACK-09 SERVE-01): A Proxy token is used "
        "until its time is over, and then whatever comes in its place for an hour.",
        proxy_token_kept=garbage_kept()["proxy_token_kept"],
        mends=lambda _answer: False,
    ),
    defect(
        "redirect-followed-when-a-proxy-token-is-over (BACK-09): A Proxy token is used until its time is "
        "over, and then a redirect is followed with the secret.",
        **following(for_a_token),
        mends=lambda _answer: False,
    ),
    defect(
        "token-endpoint-unverified-when-a-proxy-token-is-over (BACK-12): A Proxy token is used until its "
        "time is over, and then whoever answers is asked for another.",
        **unverified(for_a_proxy_token),
        mends=lambda _answer: False,
    ),
)
