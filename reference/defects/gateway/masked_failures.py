"""Gateways that break a rule and also something that a check needs to detect this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations import held_locks, http_readers
from gateproof.reference.deviations.reissued_token import ReissuedToken
from gateproof.reference.gateway.keys import KeyRing, SigningKey, new_key
from gateproof.reference.gateway.pages import ApprovePageFacts, approve_page
from gateproof.reference.gateway.policy import authorization, proxy, vault
from gateproof.reference.gateway.policy.authorization import PAGE_CHECKS, AuthorizationFacts, ConsentFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import (
    Agent,
    Grant,
    ProxyClient,
    Resource,
    Standing,
    VaultEntry,
    VaultKey,
)
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal

CLIENTS = 2
_OUTAGE = held_locks.Outage()


def closing_rejected_resources(**more: Any) -> dict[str, Any]:
    """Closes a Resource for everybody after its merchant rejected one provisioning."""
    closed: set[str] = set()

    class Closing(Vault):
        async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
            verdict = await super()._provision(grant, agent, resource)
            if verdict == "rejected":
                closed.add(resource.id)
            return verdict

    def is_open(facts: AuthorizationFacts) -> Refusal | None:
        if facts.resource.id not in closed:
            return None
        return Refusal(status=403, error="access_denied", description="the Resource is disabled")

    return {"vault_factory": Closing, "page_checks": (is_open, *PAGE_CHECKS), **more}


def marked_by_a_rejection(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """A rejection leaves an empty entry that needs reauthentication, and no sign-in replaces it."""
    if verdict != "rejected":
        marked = old is not None and not old.access_token
        return old if marked else vault.entry_after_provisioning(old, verdict, answer, now)
    return VaultEntry(
        access_token="",
        refresh_token=None,
        issued_at=now,
        expires_at=now,
        scopes=None,
        needs_reauthentication=True,
    )


def resource_keys_of_before_gone() -> dict[str, Any]:
    """A rotation starts a new key store; Resource keys of the old one are no longer published."""
    rotations = 0
    made: dict[str, int] = {}

    def core_key(ids: Ids) -> SigningKey:
        nonlocal rotations
        rotations += 1
        return new_key(ids)

    def resource_key(ids: Ids) -> SigningKey:
        key = new_key(ids)
        made[key.kid] = rotations
        return key

    def shown(_core: KeyRing, own: SigningKey) -> tuple[SigningKey, ...]:
        return (own,) if made[own.kid] == rotations else ()

    return {"new_core_key": core_key, "new_resource_key": resource_key, "resource_keys_shown": shown}


def other_resources_entry(change: Callable[[VaultEntry], VaultEntry]) -> type[Vault]:
    """Changes the merchant tokens of all Resources of a Project except the first."""

    class Misreading(Vault):
        async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
            entry = await super().merchant_token(key, resource)
            first = self._store.resources_of(resource.project_id)[0]
            return entry if isinstance(entry, Refusal) or first.id == resource.id else change(entry)

    return Misreading


def first_of_the_project(store: Store, credentials: proxy.ProxyCredentials) -> ProxyClient | None:
    """Finds only the first Proxy clients of a Project."""
    found = proxy.proxy_client_named(store, credentials)
    if found is None:
        return None
    beside = [each for each in store.proxy_clients.values() if each.project_id == found.project_id]
    return found if found in beside[:CLIENTS] else None


class _Sliding(ReissuedToken):
    """Caches a token for an hour after its last request, even if it has expired."""

    def token(self, record: Any, keys: KeyRing, ids: Ids) -> str:
        token = super().token(record, keys, ids)
        self._newest[record.client_id] = token, record.expires_at
        return token


_SLIDING = _Sliding()


def crashing_after_a_refusal_by_another_user(facts: ConsentFacts) -> Standing | None:
    """Stores one refusal per agent and reads it as that of the current user, which fails."""
    others = {login: said for login, said in facts.answers.items() if login != facts.login_id}
    if facts.standing == "approved" and "deny" in others.values():
        raise KeyError(facts.login_id)
    return authorization.consent(facts)


def crashing_at_the_second_question() -> Callable[[ApprovePageFacts], str]:
    """When the user is asked a second time, inserts a row that already exists."""
    asked: set[tuple[str, str, str]] = set()

    def page(facts: ApprovePageFacts) -> str:
        row = (facts.agent.id, facts.person.login_id, facts.resource.id)
        if row in asked:
            raise KeyError(row)
        asked.add(row)
        return approve_page(facts)

    return page


DEFECTS = (
    defect(
        "no-code-at-a-resource-once-rejected (AUTHZ-10 ROBUST-04): If the merchant rejects the gateway, the "
        "sign-in fails, and so do all later ones at that Resource.",
        **closing_rejected_resources(continues_sign_in=lambda verdict: verdict != "rejected"),
    ),
    defect(
        "resource-closed-by-a-rejection (AUTHZ-10 ROBUST-04): If the merchant rejects the gateway, this "
        "sign-in gives a code, but all later ones at that Resource fail.",
        **closing_rejected_resources(),
    ),
    defect(
        "rejected-user-marked-for-good (REDEEM-10 ROBUST-04): After the merchant rejected the gateway once "
        "for a user, redemption answers 410 even after new sign-ins.",
        entry_after_provisioning=marked_by_a_rejection,
    ),
    defect(
        "resource-keys-gone-after-a-rotation (VAULT-08): After a rotation of the core key, the key sets of "
        "all existing Resources are empty.",
        **resource_keys_of_before_gone(),
    ),
    defect(
        "second-resources-tokens-misread (REDEEM-12): Redemption returns the merchant token reversed, except "
        "at the first Resource of a Project.",
        vault_factory=other_resources_entry(
            lambda entry: replace(entry, access_token=entry.access_token[::-1])
        ),
    ),
    defect(
        "third-proxy-client-gets-nothing (PROXY-05 ROBUST-04): The third and later Proxy clients of a "
        "Project get no Proxy token.",
        proxy_client_named=first_of_the_project,
    ),
    defect(
        "proxy-token-kept-while-asked-for (PROXY-02): A Proxy client that keeps requesting a token gets the "
        "same one again, even after its expiry.",
        new_proxy_token=_SLIDING.token,
        keep_proxy_token=_SLIDING.keep,
    ),
    defect(
        "crash-after-another-users-no (ROBUST-04): A sign-in for an agent that another user has refused gets "
        "a 500.",
        consent=crashing_after_a_refusal_by_another_user,
    ),
    defect(
        "crash-at-the-second-question (AUTHZ-01 AUTHZ-14 REG-14 VAULT-04 ROBUST-04): A user who is asked to "
        "approve the same agent at the same Resource a second time gets a 500.",
        approve_page=crashing_at_the_second_question(),
    ),
    defect(
        "taken-down-by-a-flood (ROBUST-02): The gateway goes down during a flood of discovery requests for "
        "unknown Resources.",
        listen=http_readers.closing_connections_during(_OUTAGE),
        around=held_locks.outage_after_unknown_resources(_OUTAGE),
    ),
)
