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
from gateproof.reference.service.wire import Answer

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


def late_by(seconds: float) -> Any:
    """A Proxy token is used for so long past its end."""

    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token, life = proxy.proxy_token_kept(document, now), document.get("expires_in")
        return replace(token, renew_at=now + float(life) + seconds) if token and life else token

    return kept


def for_fifty_minutes(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
    token = proxy.proxy_token_kept(document, now)
    return replace(token, renew_at=now + 3000) if token is not None else None


def dropped_at(*statuses: int, nth: int = 1) -> dict[str, Any]:
    """The nth redemption that is answered so costs the Proxy token; the call itself is not mended."""
    answers: list[int] = []

    def counted(answer: Answer) -> bool:
        answers.extend([answer.status] if answer.status in statuses else [])
        return False

    def due(token: proxy.ProxyToken, now: float) -> bool:
        dropped = len(answers) >= nth
        if dropped:
            answers.clear()
        return dropped or proxy.is_due(token, now)

    return {"mends": counted, "proxy_token_is_due": due}


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
        "proxy-token-half-a-minute-past-its-end (BACK-03): A Proxy token is used for half a minute past its "
        "end, and a refusal changes nothing.",
        proxy_token_kept=late_by(30),
        mends=lambda _answer: False,
    ),
    defect(
        "proxy-token-by-a-fixed-time (BACK-03): A Proxy token is used for fifty minutes, whatever its "
        "lifetime, and a refusal changes nothing.",
        proxy_token_kept=for_fifty_minutes,
        mends=lambda _answer: False,
    ),
    defect(
        "proxy-token-dropped-at-the-third-refusal (BACK-03): A Proxy token is used for fifty minutes, and "
        "dropped after it was refused three times.",
        proxy_token_kept=for_fifty_minutes,
        **dropped_at(401, nth=3),
    ),
    defect(
        "proxy-token-dropped-at-404-and-410 (BACK-02): A redemption that is answered 404 or 410 costs the "
        "Proxy token, as a 401 does.",
        **dropped_at(401, 404, 410),
    ),
    defect(
        "proxy-token-dropped-at-410 (BACK-02): The service takes a 410 for the end of its Proxy token.",
        **dropped_at(401, 410),
    ),
    defect(
        "call-mended-at-404 (BACK-02): A redemption that is answered 404 is made again with another Proxy "
        "token.",
        mends=lambda answer: answer.status in (401, 404),
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
