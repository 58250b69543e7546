"""Gateways that keep what they are told for too short a time, or for too few, and go wrong later."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.proxy_clients import while_checked
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.second_credential import forgotten_after
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policies import SpendCode
from gateproof.reference.gateway.policy import (
    authorization,
    code_exchange,
    key_sets,
    proxy,
    redemption,
    vault,
)
from gateproof.reference.gateway.policy.code_exchange import CodeCheck, CodeFacts, CodeRefused
from gateproof.reference.gateway.policy.redemption import RedemptionCheck, RedemptionFacts
from gateproof.reference.gateway.policy.token_claims import TokenFacts, access_token_claims
from gateproof.reference.gateway.policy.vault import Step
from gateproof.reference.gateway.records import Code, Grant, Project, ProxyClient, Standing, VaultEntry
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.outcomes import JsonObject, Refusal

LAST_CODES, USES, CLIENTS, GRANTS = 8, 25, 3, 10
NEAR_S = 57 * 60


def last_few_remembered() -> SpendCode:
    """A list of used codes has room for so many."""
    used: deque[str] = deque(maxlen=LAST_CODES)

    async def spend(
        codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
    ) -> Code | CodeRefused:
        code = codes.get(key)
        if code is not None and code.spent and key not in used:
            codes.change(key, replace(code, spent=False))
        used.append(key)
        return await code_exchange.spend_code(codes, key, checks, facts)

    return spend


def used_up() -> RedemptionCheck:
    """A Proxy token is good for so many redemptions."""
    used = Counter[str]()

    def check(facts: RedemptionFacts) -> Refusal | None:
        sent = facts.proxy_headers[0]
        used[sent] += 1
        return redemption.proxy_token_is_good(
            replace(facts, proxy_token=None) if used[sent] > USES else facts
        )

    return check


def first_of_many_pushed_out(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
    """A Project has so many Proxy clients at most: the newest ones."""
    found = proxy.proxy_client_named(store, credentials)
    if found is None:
        return None
    beside = [each for each in store.proxy_clients.values() if each.project_id == found.project_id]
    return found if found in beside[-CLIENTS:] else None


def newest_of(owner: Callable[[Grant], str]) -> Callable[[Mapping[str, Any], Store], Grant | None]:
    """Of all grants of an owner the newest few count."""

    def behind(claims: Mapping[str, Any], store: Store) -> Grant | None:
        found = redemption.grant_behind(claims, store)
        if found is None:
            return None
        its = [each.id for each in store.grants.values() if owner(each) == owner(found)]
        return found if found.id in its[-GRANTS:] else None

    return behind


def by_the_key_too() -> dict[str, Any]:
    """The subject is made of the login and of the key that signs now."""
    kid = [""]

    def key(core: KeyRing, own: SigningKey) -> SigningKey:
        kid[0] = core.current.kid
        return key_sets.access_token_key(core, own)

    def claims(facts: TokenFacts) -> JsonObject:
        honest = access_token_claims(facts)
        return honest | {"sub": "sub_" + hashlib.sha256(f"{honest['sub']}{kid[0]}".encode()).hexdigest()[:24]}

    return {"access_token_key": key, "access_token_claims": claims}


def holding_once_held() -> dict[str, Any]:
    """The default for new Projects is what was last chosen for one; the next one shows it."""
    known: set[str] = set()
    holding: list[str] = []

    def standing(recorded: Standing | None, project: Project) -> Standing:
        honest = authorization.agent_standing(recorded, project)
        new = project.id not in known
        known.add(project.id)
        if project.agent_policy == "hold":
            holding.append(project.id)
        elif new and holding:
            holding.clear()
            return "pending"
        return honest

    return {"agent_standing": standing}


def near_for_most_of_the_hour(entry: VaultEntry, now: float) -> Step:
    """Minutes are taken for a share of the life: near is all but the first three of an hour."""
    near = entry.expires_at is not None and entry.expires_at - now < NEAR_S
    return vault.step(entry, max(now, entry.expires_at or now)) if near else vault.step(entry, now)


DEFECTS = (
    defect(
        "used-codes-forgotten-after-ten-seconds (CODE-02): A code lives for a minute, and that it was used "
        "is known for ten seconds.",
        spend_code=forgotten_after(10),
    ),
    defect(
        "last-eight-used-codes-known (CODE-02): That a code was used is known of the last eight codes.",
        spend_code=last_few_remembered(),
    ),
    defect(
        "proxy-token-for-25-redemptions (PROXY-06 VAULT-07 ROBUST-04): A Proxy token is used up after 25 "
        "redemptions.",
        **while_checked(redemption.proxy_token_is_good, used_up()),
    ),
    defect(
        "three-proxy-clients-at-most (PROXY-05): A fourth Proxy client of a Project takes the place of the "
        "first.",
        proxy_client_named=first_of_many_pushed_out,
    ),
    defect(
        "subject-of-the-signing-key (CLAIM-03): Another signing key makes strangers of all users.",
        **by_the_key_too(),
    ),
    defect(
        "new-projects-hold-after-one-held (AUTHZ-09 ROBUST-04): A Project made after another began to hold "
        "agents holds its first agent, too.",
        **holding_once_held(),
    ),
    defect(
        "near-expiry-by-minutes (VAULT-05): A merchant token with less than 57 minutes to go is refreshed.",
        step=near_for_most_of_the_hour,
    ),
    defect(
        "ten-grants-an-agent (REDEEM-01 ROBUST-04): An agent has the grants of its newest authorizations.",
        grant_behind=newest_of(lambda grant: grant.agent_id),
    ),
    defect(
        "ten-grants-a-user (REDEEM-01 ROBUST-04): A user has the grants of the newest authorizations.",
        grant_behind=newest_of(lambda grant: f"{grant.project_id} {grant.person.login_id}"),
    ),
)
