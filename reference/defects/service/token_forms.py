"""Services that lose a part of merchant or Proxy tokens with unusual characters or of unusual length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote_plus

from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.service.policy import proxy, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outgoing

COLUMN = 255


def merchant_token_as(written: Callable[[str], str]) -> Callable[[CallFacts, Answer], str | None]:
    def found(facts: CallFacts, answer: Answer) -> str | None:
        token = redemption.merchant_token_in(facts, answer)
        return written(token) if token is not None else None

    return found


def proxy_token_as(
    written: Callable[[str], str],
) -> Callable[[Mapping[str, Any], float], proxy.ProxyToken | None]:
    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token = proxy.proxy_token_kept(document, now)
        return replace(token, value=written(token.value)) if token is not None else None

    return kept


def cut_in_the_cache(facts: CallFacts) -> Outgoing:
    """A merchant token from the cache was stored in a short column."""
    fresh = bool(facts.proxy_token)
    kept = replace(facts, merchant_token=facts.merchant_token[:COLUMN])
    return redemption.merchant_request(facts if fresh else kept)


DEFECTS = (
    defect(
        "merchant-token-form-decoded (SERVE-01): The service decodes a merchant token as if it were part of "
        "a form, so that a plus becomes a blank.",
        merchant_token_in=merchant_token_as(unquote_plus),
    ),
    defect(
        "merchant-token-up-to-an-equals-sign (SERVE-01): The service stores a merchant token with its expiry "
        "in one text, and reads it up to the first equals sign.",
        merchant_token_in=merchant_token_as(lambda token: token.partition("=")[0]),
    ),
    defect(
        "merchant-token-in-a-short-column (SERVE-01): The service caches a merchant token in a column of 255 "
        "characters, which cuts longer ones.",
        cache_key=by_user,
        cached_until=until_it_expires,
        merchant_request=cut_in_the_cache,
    ),
    defect(
        "proxy-token-without-padding (SERVE-01): The service strips equals signs from the end of a Proxy "
        "token.",
        proxy_token_kept=proxy_token_as(lambda token: token.rstrip("=")),
    ),
    defect(
        "proxy-token-in-a-short-column (SERVE-01): The service keeps 255 characters of a Proxy token.",
        proxy_token_kept=proxy_token_as(lambda token: token[:COLUMN]),
    ),
)
