"""Gateways that keep state for too short a time or in too small a number, or apply wrong limits."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.defects.gateway.second_credential import used_codes_forgotten_after
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
    """Keeps a list of used codes of limited length."""
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
    """Limits the number of redemptions per Proxy token."""
    used = Counter[str]()

    def check(facts: RedemptionFacts) -> Refusal | None:
        sent = facts.proxy_headers[0]
        used[sent] += 1
        return redemption.proxy_token_is_good(
            replace(facts, proxy_token=None) if used[sent] > USES else facts
        )

    return check


def first_of_many_pushed_out(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
    """Knows only the newest Proxy clients of a Project."""
    found = proxy.proxy_client_named(store, credentials)
    if found is None:
        return None
    beside = [each for each in store.proxy_clients.values() if each.project_id == found.project_id]
    return found if found in beside[-CLIENTS:] else None


def newest_of(owner: Callable[[Grant], str]) -> Callable[[Mapping[str, Any], Store], Grant | None]:
    """Accepts only the newest grants of an owner."""

    def behind(claims: Mapping[str, Any], store: Store) -> Grant | None:
        found = redemption.grant_behind(claims, store)
        if found is None:
            return None
        its = [each.id for each in store.grants.values() if owner(each) == owner(found)]
        return found if found.id in its[-GRANTS:] else None

    return behind


def subject_of_the_key() -> dict[str, Any]:
    """Derives `sub` from the login and the current signing key."""
    kid = [""]

    def key(core: KeyRing, own: SigningKey) -> SigningKey:
        kid[0] = core.current.kid
        return key_sets.access_token_key(core, own)

    def claims(facts: TokenFacts) -> JsonObject:
        honest = access_token_claims(facts)
        return honest | {"sub": "sub_" + hashlib.sha256(f"{honest['sub']}{kid[0]}".encode()).hexdigest()[:24]}

    return {"access_token_key": key, "access_token_claims": claims}


def held_by_the_next_project() -> dict[str, Any]:
    """After one Project holds agents, the next new Project does, too."""
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
    """Treats a token as near expiry from 57 minutes before it."""
    near = entry.expires_at is not None and entry.expires_at - now < NEAR_S
    return vault.step(entry, max(now, entry.expires_at or now)) if near else vault.step(entry, now)


DEFECTS = (
    defect(
        "used-codes-forgotten-after-ten-seconds (CODE-02): A code lives for a minute, but the gateway "
        "remembers its use only for ten seconds.",
        spend_code=used_codes_forgotten_after(10),
    ),
    defect(
        "last-eight-used-codes-known (CODE-02): The gateway remembers only the last eight used codes.",
        spend_code=last_few_remembered(),
    ),
    defect(
        "proxy-token-for-25-redemptions (PROXY-06 VAULT-07 ROBUST-04): The gateway refuses a Proxy token "
        "after 25 redemptions.",
        **redemption_check_replaced(redemption.proxy_token_is_good, used_up()),
    ),
    defect(
        "three-proxy-clients-at-most (PROXY-05): A fourth Proxy client of a Project replaces the first.",
        proxy_client_named=first_of_many_pushed_out,
    ),
    defect(
        "subject-of-the-signing-key (CLAIM-03): The `sub` of a user in access tokens changes when the core "
        "key is rotated.",
        **subject_of_the_key(),
    ),
    defect(
        "new-projects-hold-after-one-held (AUTHZ-09 ROBUST-04): After one Project holds agents, the next new "
        "Project holds its first agent too.",
        **held_by_the_next_project(),
    ),
    defect(
        "near-expiry-by-minutes (VAULT-05): The gateway refreshes a merchant token that expires in less than "
        "57 minutes.",
        step=near_for_most_of_the_hour,
    ),
    defect(
        "ten-grants-an-agent (REDEEM-01 ROBUST-04): Redemption accepts only access tokens of an agent's ten "
        "newest grants.",
        grant_behind=newest_of(lambda grant: grant.agent_id),
    ),
    defect(
        "ten-grants-a-user (REDEEM-01 ROBUST-04): Redemption accepts only access tokens of a user's ten "
        "newest grants.",
        grant_behind=newest_of(lambda grant: f"{grant.project_id} {grant.person.login_id}"),
    ),
)
