"""Services that mix up the merchant tokens of users, or use a merchant token for too long."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outgoing

CONCURRENT_S = 0.005
Kept = Callable[[CallFacts], Hashable]


def for_an_hour(_document: Mapping[str, Any], now: float) -> float:
    return now + 3600


def until_it_expires(document: Mapping[str, Any], now: float) -> float:
    """A merchant token without `expires_at` is not cached."""
    said = document.get("expires_at")
    try:
        return datetime.fromisoformat(said).timestamp() if isinstance(said, str) else now
    except ValueError:
        return now


def by_user(facts: CallFacts) -> tuple[str, str]:
    """Project and subject: the same subject may be another user in another Project."""
    ext = facts.claims.get("ext")
    return str(ext.get("project_id") if isinstance(ext, dict) else None), str(facts.claims.get("sub"))


def by_agent(facts: CallFacts) -> str:
    ext = facts.claims.get("ext")
    agent = ext.get("agent") if isinstance(ext, dict) else None
    return str(agent.get("client_id") if isinstance(agent, dict) else None)


def without_the_offset(document: Mapping[str, Any], now: float) -> float:
    """The UTC offset of `expires_at` is ignored."""
    said = document.get("expires_at")
    return datetime.fromisoformat(said[:19]).replace(tzinfo=UTC).timestamp() if isinstance(said, str) else now


def failing_on_nanoseconds(document: Mapping[str, Any], now: float) -> float:
    """`strptime`, with a format for at most six digits after the point."""
    said = document.get("expires_at")
    if isinstance(said, str) and "." in said:
        datetime.strptime(said, "%Y-%m-%dT%H:%M:%S.%f%z")
    return now


def cached_by(key: Kept) -> dict[str, Any]:
    """Merchant tokens are cached for an hour under this key."""
    return {"cache_key": key, "cached_until": for_an_hour}


def reused_on_status(status: int) -> dict[str, Any]:
    """For this status, the merchant token of an earlier redemption of the same token is used."""
    kept: dict[str, str] = {}

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token = redemption.merchant_token_in(facts, answer)
        if token is not None:
            kept[facts.token] = token
        return token

    def instead(facts: CallFacts, answer: Answer) -> str | None:
        return kept.get(facts.token) if answer.status == status else None

    return {"merchant_token_in": found, "fallback_token": instead}


def current_user() -> dict[str, Any]:
    """One variable holds the user for all concurrent calls."""
    current: dict[str, str] = {}
    tokens: dict[str, str] = {}

    def asked(facts: CallFacts) -> Outgoing:
        current["user"] = str(facts.claims.get("sub"))
        return redemption.redemption_request(facts)

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token = redemption.merchant_token_in(facts, answer)
        if token is None:
            return None
        tokens[current["user"]] = token
        return tokens.get(str(facts.claims.get("sub")), token)

    return {"redemption_request": asked, "merchant_token_in": found}


def current_token() -> dict[str, Any]:
    """One variable holds the token to redeem while the Proxy token is requested."""
    current: dict[str, str] = {}

    def noted(facts: CallFacts) -> Hashable:
        current["token"] = facts.token
        return redemption.cache_key(facts)

    def asked(facts: CallFacts) -> Outgoing:
        return redemption.redemption_request(replace(facts, token=current["token"]))

    return {"cache_key": noted, "redemption_request": asked}


def first_of_concurrent_ones() -> Callable[[CallFacts, Answer], str | None]:
    """A redemption shortly after another one gets the merchant token of the other."""
    stored: list[tuple[str, float]] = []

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token, now = redemption.merchant_token_in(facts, answer), time.monotonic()
        if token is None:
            return None
        if stored and now - stored[0][1] < CONCURRENT_S:
            return stored[0][0]
        stored[:] = [(token, now)]
        return token

    return found


def kept_until_the_first_expires() -> dict[str, Any]:
    """The expiry of a user's first merchant token is not replaced with the token."""
    first: dict[Hashable, float] = {}
    current: list[Hashable] = []

    def found(facts: CallFacts, answer: Answer) -> str | None:
        current[:] = [redemption.cache_key(facts)]
        return redemption.merchant_token_in(facts, answer)

    def until(document: Mapping[str, Any], now: float) -> float:
        return first.setdefault(current[0], until_it_expires(document, now))

    return {"merchant_token_in": found, "cached_until": until}


DEFECTS = (
    defect(
        "merchant-token-kept-for-all (BACK-10 SERVE-01 BACK-07 BACK-08 BACK-11 META-04): The service caches "
        "one merchant token for all users.",
        **cached_by(lambda _: None),
    ),
    defect(
        "merchant-token-kept-by-agent (BACK-10 SERVE-01 BACK-07 BACK-08 BACK-11 META-04): The service caches "
        "merchant tokens by agent, but an agent has many users.",
        **cached_by(by_agent),
    ),
    defect(
        "merchant-token-kept-by-project (BACK-10 SERVE-01 BACK-07 BACK-11 META-04): The service caches "
        "merchant tokens by Project, not by user.",
        **cached_by(lambda facts: by_user(facts)[0]),
    ),
    defect(
        "merchant-token-kept-by-subject (BACK-08): The service caches merchant tokens by user until they "
        "expire, without the Project.",
        cache_key=lambda facts: str(facts.claims.get("sub")),
        cached_until=until_it_expires,
    ),
    defect(
        "current-user-in-one-place (BACK-10 ROBUST-03): The service holds the current user in a global "
        "variable during redemption.",
        **current_user(),
    ),
    defect(
        "current-token-while-a-proxy-token-is-got (BACK-10): The service holds the token to redeem in a "
        "global variable while it requests the Proxy token.",
        **current_token(),
    ),
    defect(
        "merchant-token-kept-by-jti (BACK-10): The service caches merchant tokens by the jti of the gateway "
        "access token; tokens without a jti share one entry.",
        cache_key=lambda facts: str(facts.claims.get("jti")),
        cached_until=until_it_expires,
    ),
    defect(
        "first-token-of-those-at-once (BACK-10 ROBUST-03): The service caches merchant tokens; if two are "
        "redeemed at the same moment, both callers get the first.",
        cache_key=by_user,
        cached_until=until_it_expires,
        merchant_token_in=first_of_concurrent_ones(),
    ),
    defect(
        "merchant-token-kept-past-its-expiry (BACK-11): The service caches a merchant token for an hour, "
        "whatever its expires_at is.",
        **cached_by(redemption.cache_key),
    ),
    defect(
        "second-merchant-token-kept-until-the-first-expires (BACK-11): The service redeems a new merchant "
        "token when the merchant refuses the old one, but keeps the expiry of the old one.",
        **kept_until_the_first_expires(),
    ),
    defect(
        "merchant-token-kept-for-a-refusal (BACK-11): If redemption answers 410, the service uses the "
        "previous merchant token.",
        **reused_on_status(410),
    ),
    defect(
        "merchant-token-kept-for-trouble (BACK-11): If redemption answers 500, the service does not retry, "
        "but uses the previous merchant token.",
        worth_another_try=lambda answer: answer is None,
        **reused_on_status(500),
    ),
    defect(
        "expires-at-without-its-offset (BACK-11): The service ignores the UTC offset of expires_at.",
        cached_until=without_the_offset,
    ),
    defect(
        "expires-at-in-nanoseconds-breaks-it (SERVE-01): An expires_at with more than six digits after the "
        "point ends in 500.",
        cached_until=failing_on_nanoseconds,
    ),
)
