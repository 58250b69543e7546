"""Services that use a Proxy token for too short or too long a time."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.certificates import for_a_proxy_token, unverified
from gateproof.reference.defects.service.failing_parties import (
    following,
    for_a_token,
    invalid_proxy_token_kept,
)
from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.renewal_timer import renewed_by_a_timer
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.upstream import Patience
from gateproof.reference.service.wire import Answer

# On a busy machine, concurrent calls take long; with the usual timeout all would fail and hide the defect.
WAITS_LONG = Patience(tries=1, answer_s=10)


def never_due(_token: proxy.ProxyToken, _now: float) -> bool:
    return False


def renewed_once() -> Any:
    """A renewal timer is set for the first Proxy token only."""
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
    """A Proxy token is used for this long after its expiry."""

    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token, life = proxy.proxy_token_kept(document, now), document.get("expires_in")
        return replace(token, renew_at=now + float(life) + seconds) if token and life else token

    return kept


def for_fifty_minutes(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
    token = proxy.proxy_token_kept(document, now)
    return replace(token, renew_at=now + 3000) if token is not None else None


def dropped_at(*statuses: int, nth: int = 1) -> dict[str, Any]:
    """After the nth redemption with such a status the Proxy token is dropped; that call is not retried."""
    answers: list[int] = []

    def counted(answer: Answer) -> bool:
        answers.extend([answer.status] if answer.status in statuses else [])
        return False

    def due(token: proxy.ProxyToken, now: float) -> bool:
        dropped = len(answers) >= nth
        if dropped:
            answers.clear()
        return dropped or proxy.is_due(token, now)

    return {"warrants_new_proxy_token": counted, "proxy_token_is_due": due}


# The agent of the call that this task serves.
_AGENT: ContextVar[str] = ContextVar("agent", default="")


def noting_the_agent(facts: CallFacts) -> Hashable:
    _AGENT.set(str(facts.claims.get("ext", {}).get("agent", {}).get("client_id")))
    return redemption.cache_key(facts)


DEFECTS = (
    defect(
        "proxy-token-of-each-agent (BACK-02): The service keeps a Proxy token for each agent.",
        cache_key=noting_the_agent,
        proxy_slot=_AGENT.get,
    ),
    defect(
        "proxy-token-for-each-call (BACK-02): The service requests a new Proxy token for each call.",
        proxy_token_is_due=lambda _token, _now: True,
    ),
    defect(
        "proxy-token-for-three-seconds (BACK-02): The service reads the lifetime of a Proxy token as "
        "milliseconds.",
        proxy_token_kept=in_milliseconds,
    ),
    defect(
        "first-calls-do-not-wait (BACK-02): Concurrent calls without a current Proxy token each request one.",
        one_at_a_time=contextlib.nullcontext,
        patience=WAITS_LONG,
    ),
    defect(
        "proxy-token-for-ever (BACK-03): The service never renews its first Proxy token.",
        proxy_token_is_due=never_due,
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "proxy-token-renewed-once (BACK-03): The service renews the first Proxy token when it expires, but "
        "never the second.",
        proxy_token_kept=renewed_once(),
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "proxy-token-timer-ends-at-a-failure (BACK-06): The service renews its Proxy token only by a timer, "
        "which is not set again after a failed renewal.",
        **renewed_by_a_timer(again_after_s=None),
    ),
    defect(
        "proxy-token-half-a-minute-past-its-end (BACK-03): The service uses a Proxy token for 30 seconds "
        "after its expiry, even if it is refused.",
        proxy_token_kept=late_by(30),
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "proxy-token-a-minute-past-its-end (BACK-03): The service uses a Proxy token for 60 seconds after "
        "its expiry, even if it is refused.",
        proxy_token_kept=late_by(60),
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "proxy-token-by-a-fixed-time (BACK-03): The service uses a Proxy token for fifty minutes, whatever "
        "its lifetime, even if it is refused.",
        proxy_token_kept=for_fifty_minutes,
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "proxy-token-dropped-at-the-third-refusal (BACK-03): The service uses a Proxy token for fifty "
        "minutes, and renews it earlier only after three refusals.",
        proxy_token_kept=for_fifty_minutes,
        **dropped_at(401, nth=3),
    ),
    defect(
        "proxy-token-dropped-at-404-and-410 (BACK-02): The service renews its Proxy token after redemption "
        "has answered 404 or 410, as after a 401.",
        **dropped_at(401, 404, 410),
    ),
    defect(
        "proxy-token-dropped-at-410 (BACK-02): The service renews its Proxy token after redemption has "
        "answered 410, as after a 401.",
        **dropped_at(401, 410),
    ),
    defect(
        "call-mended-at-404 (BACK-02): If redemption answers 404, the service gets another Proxy token and "
        "redeems again.",
        warrants_new_proxy_token=lambda answer: answer.status in (401, 404),
    ),
    defect(
        "garbage-kept-when-a-proxy-token-is-over (BACK-06 BACK-04 BACK-09 SERVE-01): The service renews a "
        "Proxy token only at its expiry, and then keeps an invalid one for an hour.",
        proxy_token_kept=invalid_proxy_token_kept()["proxy_token_kept"],
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "redirect-followed-when-a-proxy-token-is-over (BACK-09): The service renews a Proxy token only at "
        "its expiry, and then follows a redirect with the secret.",
        **following(for_a_token),
        warrants_new_proxy_token=lambda _answer: False,
    ),
    defect(
        "token-endpoint-unverified-when-a-proxy-token-is-over (BACK-12): The service renews a Proxy token "
        "only at its expiry, and then does not verify the token endpoint's certificate.",
        **unverified(for_a_proxy_token),
        warrants_new_proxy_token=lambda _answer: False,
    ),
)
