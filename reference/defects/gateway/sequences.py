"""Gateways that answer every single step correctly, and fail after a certain sequence of steps.

Each keeps state that it should drop, or drops state that it should keep, for the lifetime of the process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
from gateproof.reference.gateway.policy import authorization, code_exchange, proxy, redemption, vault
from gateproof.reference.gateway.policy.code_exchange import CODE_CHECKS, CodeCheck, CodeFacts, CodeRefused
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import (
    Agent,
    Code,
    Grant,
    Project,
    ProxyClient,
    Resource,
    Standing,
    VaultEntry,
)
from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.outcomes import Refusal


def stale_after_a_second_rejection() -> dict[str, Any]:
    """A merchant token of a reauthentication is returned forever after its refresh is rejected."""
    again: set[str] = set()

    def entry(
        old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
    ) -> VaultEntry | None:
        new = vault.entry_after_provisioning(old, verdict, answer, now)
        if old is not None and old.needs_reauthentication and new is not None and verdict == "accepted":
            again.add(new.access_token)
        return new

    def rejected(old: VaultEntry) -> VaultEntry:
        if old.access_token in again:
            return replace(old, refresh_token=None, expires_at=None)
        return vault.rejected_entry(old)

    return {"entry_after_provisioning": entry, "rejected_entry": rejected}


def repaired_once() -> dict[str, Any]:
    """Reauthentication repairs an entry only once."""
    repaired: set[str] = set()

    def entry(
        old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
    ) -> VaultEntry | None:
        new = vault.entry_after_provisioning(old, verdict, answer, now)
        if old is None or not old.needs_reauthentication or new is None:
            return new
        if old.access_token in repaired:
            return old
        repaired.add(new.access_token)
        return new

    return {"entry_after_provisioning": entry}


def third_refresh_with_the_first_token() -> dict[str, Any]:
    """After two refreshes, the refresh token of the sign-in is used again."""
    first: dict[str, str | None] = {}
    refreshes: Counter[str] = Counter()

    def refreshed(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        new = vault.refreshed_entry(old, answer, now)
        kept = first[new.access_token] = first.pop(old.access_token, old.refresh_token)
        refreshes[new.access_token] = refreshes.pop(old.access_token, 0) + 1
        return replace(new, refresh_token=kept) if refreshes[new.access_token] == 2 else new

    return {"refreshed_entry": refreshed}


def next_agent_approved() -> dict[str, Any]:
    """After a request of an approved agent, the next new agents are approved."""
    open_in: set[str] = set()

    def standing(recorded: Standing | None, project: Project) -> Standing:
        if recorded is None and project.id in open_in:
            return "approved"
        if recorded == "approved" and project.agent_policy == "hold":
            open_in.add(project.id)
        return authorization.agent_standing(recorded, project)

    return {"agent_standing": standing}


def approved_at_the_third_sign_in() -> dict[str, Any]:
    """A Pending agent is approved at its third sign-in."""
    asked: Counter[tuple[str, str]] = Counter()
    place = ("", "")

    def key(project_id: str, agent_id: str) -> tuple[str, str]:
        nonlocal place
        place = authorization.standing_key(project_id, agent_id)
        return place

    def standing(recorded: Standing | None, project: Project) -> Standing:
        found = authorization.agent_standing(recorded, project)
        asked[place] += found == "pending"
        return "approved" if asked[place] > 2 else found

    return {"standing_key": key, "agent_standing": standing}


def revoked_until_there_is_another() -> dict[str, Any]:
    """A revoked Proxy client that was refused works again when its Project has a newer one."""
    refused: dict[str, int] = {}

    def named(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
        client = proxy.proxy_client_named(store, credentials)
        if client is None or not client.revoked:
            return client
        now = sum(each.project_id == client.project_id for each in store.proxy_clients.values())
        back = now > refused.setdefault(client.id, now)
        return replace(client, revoked=False) if back else client

    return {"proxy_client_named": named}


def who_declined_is_asserted() -> dict[str, Any]:
    """The user assertion names an earlier user who declined, instead of the one who approved."""
    waiting: dict[tuple[str, str], list[str]] = {}

    def page(facts: ApprovePageFacts) -> str:
        waiting.setdefault((facts.agent.id, facts.resource.id), []).append(facts.person.login_id)
        return approve_page(facts)

    def assertion(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
        claims = vault.user_assertion(grant, agent, resource, jti, now)
        asked = waiting.get((agent.id, resource.id), [grant.person.login_id])
        who = asked[0]
        asked.remove(grant.person.login_id)
        return claims | {"sub": who}

    return {"approve_page": page, "user_assertion": assertion}


def foreign_project_at_the_second_try() -> dict[str, Any]:
    """A Proxy client of another Project is refused only the first time."""
    met: set[tuple[str, str | None]] = set()

    def same(facts: RedemptionFacts) -> Refusal | None:
        refusal = redemption.same_project(facts)
        if refusal is None or facts.proxy_token is None:
            return refusal
        pair = (facts.proxy_token.client_id, facts.project_id)
        known = pair in met
        met.add(pair)
        return None if known else refusal

    checks = instead(REDEMPTION_CHECKS, redemption.same_project, same)
    return {"redemption_checks": checks, "redemption_rechecks": ()}


def code_good_again_at_the_third_try() -> dict[str, Any]:
    """A used code that was refused once is accepted the next time."""
    refused: set[str] = set()

    async def spend(
        codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
    ) -> Code | CodeRefused:
        code = codes.get(key)
        if code is not None and code.spent and key in refused:
            codes.change(key, replace(code, spent=False))
        elif code is not None and code.spent:
            refused.add(key)
        outcome = await code_exchange.spend_code(codes, key, checks, facts)
        return replace(outcome, revokes=None) if isinstance(outcome, CodeRefused) else outcome

    return {"spend_code": spend, "code_checks": CODE_CHECKS}


DEFECTS = (
    defect(
        "stale-token-after-a-second-rejection (ROBUST-04): If a refresh is rejected, the user "
        "reauthenticates, and the next refresh is rejected too, redemption returns the expired token.",
        **stale_after_a_second_rejection(),
    ),
    defect(
        "mended-once (ROBUST-04): Reauthentication works after the first rejected refresh, but not after the "
        "second.",
        **repaired_once(),
    ),
    defect(
        "third-refresh-with-the-first-token (ROBUST-04 VAULT-07): The third refresh sends the first refresh "
        "token instead of the newest.",
        **third_refresh_with_the_first_token(),
    ),
    defect(
        "next-agent-let-in (ROBUST-04 AUTHZ-07): After a request of an agent that the operator approved, new "
        "agents of the Project are approved.",
        **next_agent_approved(),
    ),
    defect(
        "pending-worn-out (ROBUST-04 AUTHZ-07): A Pending agent gets a code at its third sign-in.",
        **approved_at_the_third_sign_in(),
    ),
    defect(
        "revoked-until-there-is-another (ROBUST-04): A revoked Proxy client that was refused works again "
        "once its Project has a newer one.",
        **revoked_until_there_is_another(),
    ),
    defect(
        "who-declined-is-asserted (ROBUST-04): If one user declines the agent and the next approves it, the "
        "gateway asserts the first user to the merchant.",
        **who_declined_is_asserted(),
    ),
    defect(
        "foreign-project-at-the-second-try (ROBUST-04): The gateway refuses a Proxy client of another "
        "Project the first time, and lets it redeem the second time.",
        **foreign_project_at_the_second_try(),
    ),
    defect(
        "code-good-again-at-the-third-try (ROBUST-04 CODE-02 CODE-10 CODE-12): The gateway refuses a used "
        "code once, and issues tokens for it the next time.",
        **code_good_again_at_the_third_try(),
    ),
)
