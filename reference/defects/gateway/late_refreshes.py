"""Gateways that store the answer to a refresh, whatever was stored since the refresh began."""

from __future__ import annotations

from typing import Any, cast

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.merchants import Merchants
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import MerchantPlace, Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.store import Store
from gateproof.reference.gateway.vault import Vault


class _PutsBack:
    """Once a refresh has succeeded, the entry that it began with is in the vault again."""

    def __init__(self, merchants: Merchants, store: Store) -> None:
        self._merchants = merchants
        self._store = store
        self.began_with: dict[str, tuple[VaultKey, VaultEntry]] = {}

    async def ask(self, merchant: MerchantPlace, form: dict[str, str]) -> MerchantAnswer:
        answer = await self._merchants.ask(merchant, form)
        began_with = self.began_with.pop(form.get("refresh_token", ""), None)
        if began_with is not None and answer.status == 200:
            key, entry = began_with
            self._store.vault[key] = entry
        return answer


class StoresWhatCameLast(Vault):
    """Replaces the user's entry by the refreshed one, even if it is newer than the refresh."""

    def __init__(self, *, store: Store, merchants: Merchants, **parts: Any) -> None:
        self._asked = _PutsBack(merchants, store)
        super().__init__(store=store, merchants=cast("Merchants", self._asked), **parts)

    async def _refresh(self, key: VaultKey, entry: VaultEntry, resource: Resource) -> Verdict:
        self._asked.began_with[entry.refresh_token or ""] = key, entry
        return await super()._refresh(key, entry, resource)


DEFECTS = (
    defect(
        "late-refresh-replaces-the-new-token (VAULT-04): If a refresh succeeds after the user has authorized "
        "again, the refreshed token replaces the new merchant token and its refresh token.",
        vault_factory=StoresWhatCameLast,
    ),
)
