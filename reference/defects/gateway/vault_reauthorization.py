"""Gateways in which a new authorization does not replace a lost merchant token."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.vault import Verdict
from gateproof.reference.gateway.records import Agent, Grant, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault


class ProvisionsOnceASignIn(Vault):
    """Provisions only once for each sign-in, even if the merchant token was lost since."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._served: set[tuple[VaultKey, float]] = set()

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        sign_in = (self._policies.vault_key(grant, resource), grant.person.signed_in_at)
        if sign_in in self._served and sign_in[0] in self._store.vault:
            return "accepted"
        self._served.add(sign_in)
        return await super()._provision(grant, agent, resource)


class RejectsWhateverIsThere(Vault):
    """A rejected refresh marks the user's current entry, even if it is newer than the refresh."""

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        verdict = await super()._refresh(key, entry, resource)
        current = self._store.vault.get(key)
        if verdict == "rejected" and current is not None:
            self._store.vault[key] = self._policies.rejected_entry(current)
        return verdict


class ForgetsWhateverIsThere(Vault):
    """A rejected refresh deletes the user's entry if a sign-in has replaced it during the refresh."""

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        verdict = await super()._refresh(key, entry, resource)
        if verdict == "rejected" and self._store.vault.get(key) is not entry:
            current = self._store.vault.get(key)
            if current is not None and not current.needs_reauthentication:
                self._store.vault.pop(key, None)
        return verdict


class AsksNoMoreAfterARejection(Vault):
    """Does not provision again for a user after one rejection."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._rejected: set[VaultKey] = set()

    async def _provision(self, grant: Grant, agent: Agent, resource: Resource) -> Verdict:
        key = self._policies.vault_key(grant, resource)
        if key in self._rejected:
            return "rejected"
        verdict = await super()._provision(grant, agent, resource)
        if verdict == "rejected":
            self._rejected.add(key)
        return verdict


DEFECTS = (
    defect(
        "provisioned-once-a-sign-in (VAULT-04 ROBUST-04): While a browser stays signed in, a new "
        "authorization does not replace a lost merchant token.",
        vault_factory=ProvisionsOnceASignIn,
    ),
    defect(
        "late-rejection-reaches-the-new-token (VAULT-04 ROBUST-04): If a refresh is rejected after the user "
        "has authorized again, the gateway marks the new merchant token as lost.",
        vault_factory=RejectsWhateverIsThere,
    ),
    defect(
        "late-rejection-removes-the-new-token (VAULT-04 ROBUST-04): If a refresh is rejected after the user "
        "has authorized again, the gateway deletes the new merchant token.",
        vault_factory=ForgetsWhateverIsThere,
    ),
    defect(
        "rejected-user-not-asked-for-again (VAULT-04 AUTHZ-10 ROBUST-04): After the merchant has rejected "
        "the gateway for a user once, the gateway never requests a merchant token for this user again.",
        vault_factory=AsksNoMoreAfterARejection,
    ),
)
