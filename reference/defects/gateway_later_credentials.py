"""Gateways that are right about the first Proxy token, and wrong about one that is used, kept or revoked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference.defects.defect import Defect, defect
from reference.defects.gateway_proxy import while_checked
from reference.gateway.ids import fingerprint
from reference.gateway.policy import proxy, redemption
from reference.gateway.policy.outcomes import JsonObject, Refusal
from reference.gateway.policy.redemption import RedemptionCheck, RedemptionFacts
from reference.gateway.records import ProxyToken
from reference.gateway.store import Store
from reference.variants.gateway_answers import Kept


def renewed_by_use() -> RedemptionCheck:
    """Every use moves the end of a Proxy token an hour away."""
    ends: dict[str, float] = {}

    def check(facts: RedemptionFacts) -> Refusal | None:
        token, sent = facts.proxy_token, facts.proxy_headers[0]
        moved = replace(token, expires_at=ends.get(sent, token.expires_at)) if token else None
        refusal = redemption.proxy_token_is_good(replace(facts, proxy_token=moved))
        if refusal is None:
            ends[sent] = facts.now + proxy.PROXY_TOKEN_LIFETIME_S
        return refusal

    return check


def two_hours_after_the_first() -> dict[str, object]:
    """Whoever asks a second time is told twice the lifetime."""
    asked: set[str] = set()
    said: list[int] = []

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        said[:] = [7200 if record.client_id in asked else proxy.PROXY_TOKEN_LIFETIME_S]
        asked.add(record.client_id)
        proxy.keep_proxy_token(store, token, record, now)

    def answer(token: str, _lifetime_s: int) -> JsonObject:
        return proxy.proxy_token_answer(token, said[0])

    return {"keep_proxy_token": keep, "proxy_token_answer": answer}


def reaching_used_tokens() -> dict[str, object]:
    """Revocation is known to what has been read from the table before: the tokens that were used."""
    used: set[str] = set()

    def check(facts: RedemptionFacts) -> Refusal | None:
        sent = facts.proxy_headers[0]
        refusal = redemption.proxy_client_still_stands(facts)
        if facts.proxy_client is None or (refusal is not None and sent in used):
            return refusal
        if refusal is None:
            used.add(sent)
        return None

    return while_checked(redemption.proxy_client_still_stands, check)


def reaching_one_token(which: Callable[[list[str]], str]) -> dict[str, Any]:
    """A client's row names one token, and that one is revoked with it."""
    given: dict[str, list[str]] = {}

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        given.setdefault(record.client_id, []).append(fingerprint(token))
        proxy.keep_proxy_token(store, token, record, now)

    def check(facts: RedemptionFacts) -> Refusal | None:
        client = facts.proxy_client
        tokens = given.get(client.id, []) if client else []
        if tokens and fingerprint(facts.proxy_headers[0]) != which(tokens):
            return None
        return redemption.proxy_client_still_stands(facts)

    return {"keep_proxy_token": keep, **while_checked(redemption.proxy_client_still_stands, check)}


KEPT = Kept()

PROXY_TOKENS: tuple[Defect, ...] = (
    defect(
        "proxy-token-renewed-by-use",
        "A Proxy token lives an hour from its last use.",
        "PROXY-07 ROBUST-04",
        **while_checked(redemption.proxy_token_is_good, renewed_by_use()),
    ),
    defect(
        "proxy-token-given-again-with-a-whole-hour",
        "A Proxy client gets the token that it has, and is told that it lives an hour from now.",
        "PROXY-02 PROXY-06",
        new_proxy_token=KEPT.token,
        keep_proxy_token=KEPT.keep,
    ),
    defect(
        "proxy-tokens-after-the-first-announced-too-long",
        "Of every Proxy token but a client's first it is said that it lives two hours.",
        "PROXY-02",
        **two_hours_after_the_first(),
    ),
    defect(
        "revocation-reaches-used-proxy-tokens",
        "Of a revoked Proxy client's tokens only those stop that were used before.",
        "REDEEM-06 ROBUST-04",
        **reaching_used_tokens(),
    ),
    defect(
        "revocation-reaches-the-newest-proxy-token",
        "Of a revoked Proxy client's tokens only the newest stops.",
        "REDEEM-06 ROBUST-04",
        **reaching_one_token(lambda tokens: tokens[-1]),
    ),
    defect(
        "revocation-reaches-the-oldest-proxy-token",
        "Of a revoked Proxy client's tokens only the oldest stops.",
        "REDEEM-06 ROBUST-04",
        **reaching_one_token(lambda tokens: tokens[0]),
    ),
)

LATER_CREDENTIALS: tuple[Defect, ...] = (*PROXY_TOKENS,)
