"""Services that mix up whose merchant token is whose, or use one for too long."""

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

AT_ONCE_S = 0.005
Kept = Callable[[CallFacts], Hashable]


def for_an_hour(_document: Mapping[str, Any], now: float) -> float:
    return now + 3600


def until_it_expires(document: Mapping[str, Any], now: float) -> float:
    """A merchant token without `expires_at` is for one call."""
    said = document.get("expires_at")
    try:
        return datetime.fromisoformat(said).timestamp() if isinstance(said, str) else now
    except ValueError:
        return now


def by_user(facts: CallFacts) -> tuple[str, str]:
    """The user of one Project: the same subject may mean somebody else in another."""
    ext = facts.claims.get("ext")
    return str(ext.get("project_id") if isinstance(ext, dict) else None), str(facts.claims.get("sub"))


def by_agent(facts: CallFacts) -> str:
    ext = facts.claims.get("ext")
    agent = ext.get("agent") if isinstance(ext, dict) else None
    return str(agent.get("client_id") if isinstance(agent, dict) else None)


def by_the_clock_on_the_wall(document: Mapping[str, Any], now: float) -> float:
    """The time is read, and not where it is that time."""
    said = document.get("expires_at")
    return datetime.fromisoformat(said[:19]).replace(tzinfo=UTC).timestamp() if isinstance(said, str) else now


def in_microseconds_at_most(document: Mapping[str, Any], now: float) -> float:
    """`strptime`, with the one format that its author has seen."""
    said = document.get("expires_at")
    if isinstance(said, str) and "." in said:
        datetime.strptime(said, "%Y-%m-%dT%H:%M:%S.%f%z")
    return now


def kept_by(key: Kept) -> dict[str, Any]:
    """Merchant tokens are kept for a while, and found again by this."""
    return {"kept_under": key, "kept_until": for_an_hour}


def kept_for_trouble(status: int) -> dict[str, Any]:
    """A merchant token that was once redeemed stands in for one that redemption refuses with this."""
    kept: dict[str, str] = {}

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token = redemption.merchant_token_in(facts, answer)
        if token is not None:
            kept[facts.token] = token
        return token

    def instead(facts: CallFacts, answer: Answer) -> str | None:
        return kept.get(facts.token) if answer.status == status else None

    return {"merchant_token_in": found, "stand_in": instead}


def current_user() -> dict[str, Any]:
    """Whose call it is stands in one place for all calls that run at the same time."""
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
    """The token to redeem is put in one place before the Proxy token is got, and taken from there after."""
    current: dict[str, str] = {}

    def noted(facts: CallFacts) -> Hashable:
        current["token"] = facts.token
        return redemption.kept_under(facts)

    def asked(facts: CallFacts) -> Outgoing:
        return redemption.redemption_request(replace(facts, token=current["token"]))

    return {"kept_under": noted, "redemption_request": asked}


def first_of_those_at_once() -> Callable[[CallFacts, Answer], str | None]:
    """Whoever comes while a token is being stored is handed that one."""
    stored: list[tuple[str, float]] = []

    def found(facts: CallFacts, answer: Answer) -> str | None:
        token, now = redemption.merchant_token_in(facts, answer), time.monotonic()
        if token is None:
            return None
        if stored and now - stored[0][1] < AT_ONCE_S:
            return stored[0][0]
        stored[:] = [(token, now)]
        return token

    return found


DEFECTS = (
    defect(
        "merchant-token-kept-for-all (BACK-10 SERVE-01 BACK-07 BACK-08 BACK-11 META-04): One merchant token "
        "is kept for everybody.",
        **kept_by(lambda _: None),
    ),
    defect(
        "merchant-token-kept-by-agent (BACK-10 SERVE-01 BACK-07 BACK-08 BACK-11 META-04): Merchant tokens "
        "are kept by agent, and an agent has many users.",
        **kept_by(by_agent),
    ),
    defect(
        "merchant-token-kept-by-project (BACK-10 SERVE-01 BACK-07 BACK-11 META-04): Merchant tokens are "
        "kept by Project.",
        **kept_by(lambda facts: by_user(facts)[0]),
    ),
    defect(
        "merchant-token-kept-by-subject (BACK-08): Merchant tokens are kept by user until they expire, "
        "whatever the Project.",
        kept_under=lambda facts: str(facts.claims.get("sub")),
        kept_until=until_it_expires,
    ),
    defect(
        "current-user-in-one-place (BACK-10 ROBUST-03): Whose call it is stands in a global variable while "
        "redemption is asked.",
        **current_user(),
    ),
    defect(
        "current-token-while-a-proxy-token-is-got (BACK-10): Whose token is to be redeemed stands in a "
        "global variable while the Proxy token is got.",
        **current_token(),
    ),
    defect(
        "merchant-token-kept-by-jti (BACK-10): Merchant tokens are kept by the jti of the gateway access "
        "token, and by none where there is none.",
        kept_under=lambda facts: str(facts.claims.get("jti")),
        kept_until=until_it_expires,
    ),
    defect(
        "first-token-of-those-at-once (BACK-10 ROBUST-03): Merchant tokens are kept, and of two that are "
        "redeemed at one moment both callers get the first.",
        kept_under=by_user,
        kept_until=until_it_expires,
        merchant_token_in=first_of_those_at_once(),
    ),
    defect(
        "merchant-token-kept-past-its-expiry (BACK-11): A merchant token is kept for an hour, whatever its "
        "expires_at says.",
        **kept_by(redemption.kept_under),
    ),
    defect(
        "merchant-token-kept-for-a-refusal (BACK-11): Where redemption says that the user has to authorize "
        "again, the merchant token of before is used.",
        **kept_for_trouble(410),
    ),
    defect(
        "merchant-token-kept-for-trouble (BACK-11): Where redemption fails, which is tried once, the "
        "merchant token of before is used.",
        worth_another_try=lambda answer: answer is None,
        **kept_for_trouble(500),
    ),
    defect(
        "expires-at-without-its-offset (BACK-11): The offset of an expires_at is cut off, as if it were "
        "always UTC.",
        kept_until=by_the_clock_on_the_wall,
    ),
    defect(
        "expires-at-in-nanoseconds-breaks-it (SERVE-01): An expires_at with more than six digits after the "
        "point ends in 500.",
        kept_until=in_microseconds_at_most,
    ),
)
