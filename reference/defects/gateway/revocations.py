"""Gateways that revoke a Proxy client partly, only for some time, or together with others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import proxy, redemption
from gateproof.reference.gateway.policy.proxy import ProxyCredentials
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionFacts
from gateproof.reference.gateway.records import ProxyClient, ProxyToken
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal

A_QUARTER_OF_AN_HOUR_S, A_DAY_S = 900, 86_400


def clients_of(store: Store, client: ProxyClient) -> list[ProxyClient]:
    return [each for each in store.proxy_clients.values() if each.project_id == client.project_id]


def revoked_with_an_older_one(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """`clients.splice(index)`: removes the revoked client and all after it."""
    named = proxy.proxy_client_named(store, credentials)
    if named is None:
        return None
    mates = clients_of(store, named)
    older = mates[: mates.index(named)]
    return replace(named, revoked=named.revoked or any(each.revoked for each in older))


def first_stays(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """The first client is stored with the Project, where revocations are not looked up."""
    named = proxy.proxy_client_named(store, credentials)
    first = named is not None and clients_of(store, named)[0] is named
    return replace(named, revoked=False) if named is not None and first else named


def tokens_of_the_first_stay() -> dict[str, object]:
    firsts: dict[str, str] = {}

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        mates = [each.id for each in store.proxy_clients.values() if each.project_id == record.project_id]
        firsts[record.project_id] = mates[0]
        proxy.keep_proxy_token(store, token, record, now)

    def stands(facts: RedemptionFacts) -> Refusal | None:
        client = facts.proxy_client
        if client is not None and firsts.get(client.project_id) == client.id:
            return None
        return redemption.proxy_client_is_not_revoked(facts)

    checks = instead(REDEMPTION_CHECKS, redemption.proxy_client_is_not_revoked, stands)
    return {"keep_proxy_token": keep, "redemption_checks": checks, "redemption_rechecks": checks}


def forgotten_after(seconds: float) -> Callable[[RedemptionFacts], Refusal | None]:
    """A revocation is kept in a cache whose entry expires."""
    noted: dict[str, float] = {}

    def stands(facts: RedemptionFacts) -> Refusal | None:
        client = facts.proxy_client
        if client is not None and client.revoked:
            since = noted.setdefault(client.id, facts.now)
            if facts.now > since + seconds:
                return None
        return redemption.proxy_client_is_not_revoked(facts)

    return stands


def back_after(seconds: float) -> dict[str, object]:
    """The same for Proxy token requests; the current time is that of the last issued Proxy token."""
    noted: dict[str, float] = {}
    latest = 0.0

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        nonlocal latest
        latest = now
        proxy.keep_proxy_token(store, token, record, now)

    def named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
        client = proxy.proxy_client_named(store, credentials)
        if client is None or not client.revoked:
            return client
        since = noted.setdefault(client.id, latest)
        return replace(client, revoked=latest <= since + seconds)

    return {"keep_proxy_token": keep, "proxy_client_named": named}


def for_a_while(seconds: float) -> dict[str, object]:
    checks = instead(REDEMPTION_CHECKS, redemption.proxy_client_is_not_revoked, forgotten_after(seconds))
    return {"redemption_checks": checks, "redemption_rechecks": checks}


DEFECTS = (
    defect(
        "revocation-of-the-newer-ones (PROXY-05 ROBUST-04): The revocation of a Proxy client also revokes "
        "all newer ones of its Project.",
        proxy_client_named=revoked_with_an_older_one,
    ),
    defect(
        "first-proxy-client-stays (PROXY-04 ROBUST-04): The first Proxy client of a Project still gets "
        "Proxy tokens after its revocation.",
        proxy_client_named=first_stays,
    ),
    defect(
        "tokens-of-the-first-proxy-client-stay (REDEEM-06 ROBUST-04): Proxy tokens of the first Proxy "
        "client of a Project still redeem after its revocation.",
        **tokens_of_the_first_stay(),
    ),
    defect(
        "revocation-forgotten-in-a-quarter-of-an-hour (REDEEM-06 ROBUST-04): Proxy tokens of a revoked "
        "Proxy client redeem again 15 minutes after their first refusal.",
        **for_a_while(A_QUARTER_OF_AN_HOUR_S),
    ),
    defect(
        "revocation-forgotten-in-a-day (PROXY-04 ROBUST-04): A revoked Proxy client gets Proxy tokens again "
        "one day after its first refusal.",
        **back_after(A_DAY_S),
    ),
)
