"""Gateways that limit how often or how long an access token redeems, or that return a wrong expires_at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import SigningKey
from gateproof.reference.gateway.policy.redemption import (
    REDEMPTION_CHECKS,
    RedemptionCheck,
    RedemptionFacts,
    redemption_answer,
    rfc3339,
    user_token_is_good,
    verified_claims,
)
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import JsonObject, Refusal

Claims = Mapping[str, Any] | None


def used_up_after(times: int) -> RedemptionCheck:
    used: Counter[str] = Counter()

    def check(facts: RedemptionFacts) -> Refusal | None:
        jti = str((facts.claims or {}).get("jti"))
        used[jti] += 1
        return user_token_is_good(replace(facts, claims=None) if used[jti] > times else facts)

    return check


def good_while(good: Callable[[Mapping[str, Any], float], bool]) -> Callable[..., Claims]:
    def verified(token: str, keys: Iterable[SigningKey], issuer: str, now: float) -> Claims:
        claims = verified_claims(token, keys, issuer, now)
        return claims if claims is not None and good(claims, now) else None

    return verified


def later_each_time() -> Callable[[VaultEntry], JsonObject]:
    """Moves expires_at by half a minute with each redemption."""
    given: Counter[str] = Counter()

    def answer(entry: VaultEntry) -> JsonObject:
        given[entry.access_token] += 1
        if entry.expires_at is None:
            return redemption_answer(entry)
        moved = replace(entry, expires_at=entry.expires_at + 30 * (given[entry.access_token] - 1))
        return redemption_answer(moved)

    return answer


def counted_from_now() -> Callable[[Asked, Answered, Gateway], Answered]:
    """Adds the lifetime left at the first redemption to the time of each redemption."""
    lives: dict[str, float] = {}

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if not asked.path.endswith("/api/credentials/token") or answered.status != 200:
            return answered
        said = json.loads(answered.body)
        if "expires_at" not in said:
            return answered
        now = gateway.clock.now()
        left = datetime.fromisoformat(said["expires_at"]).timestamp() - now
        said["expires_at"] = rfc3339(now + lives.setdefault(said["access_token"], left))
        return replace(answered, body=json.dumps(said).encode())

    return change


def five_minutes_at_least(entry: VaultEntry) -> JsonObject:
    if entry.expires_at is None:
        return redemption_answer(entry)
    return redemption_answer(replace(entry, expires_at=max(entry.expires_at, entry.issued_at + 300)))


DEFECTS = (
    defect(
        "access-token-redeems-fifty-times (REDEEM-01): An access token redeems at most fifty times.",
        redemption_checks=instead(REDEMPTION_CHECKS, user_token_is_good, used_up_after(50)),
    ),
    defect(
        "access-token-ends-a-minute-early (REDEEM-01): The gateway refuses an access token for redemption "
        "in the last minute before its expiry.",
        verified_claims=good_while(lambda claims, now: now < claims["exp"] - 60),
    ),
    defect(
        "access-token-redeems-for-forty-minutes (REDEEM-01): The gateway refuses an access token for "
        "redemption after forty minutes, although it expires after an hour.",
        verified_claims=good_while(lambda claims, now: now < claims["iat"] + 2400),
    ),
    defect(
        "expires-at-later-each-time (REDEEM-16): expires_at is half a minute later in each redemption of "
        "the same merchant token.",
        redemption_answer=later_each_time(),
    ),
    defect(
        "expires-at-counted-from-now (REDEEM-16): expires_at is always the time of the redemption plus the "
        "lifetime that was left at the first redemption.",
        around=altering_answers(counted_from_now()),
    ),
    defect(
        "expires-at-in-five-minutes-at-least (REDEEM-16): expires_at is never less than five minutes after "
        "the merchant token was issued.",
        redemption_answer=five_minutes_at_least,
    ),
)
