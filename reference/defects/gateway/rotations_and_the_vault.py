"""Gateways whose vault is encrypted with the signing key, which a rotation replaces."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.records import Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal


class UnderTheSigningKey(Vault):
    """No entry can be read after the rotation of the key under which it was stored."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._stored_under: dict[VaultKey, tuple[VaultEntry, str]] = {}

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        entry, current = self._store.vault.get(key), self._store.core_keys.current.kid
        if entry is None:
            return await super().merchant_token(key, resource)
        stored, kid = self._stored_under.get(key, (None, ""))
        if stored is not entry:
            self._stored_under[key] = entry, current
        elif kid != current and self._is_lost(entry):
            return self._policies.nothing_cached()
        return await super().merchant_token(key, resource)

    def _is_lost(self, _entry: VaultEntry) -> bool:
        return True


class RefreshTokensUnderTheSigningKey(UnderTheSigningKey):
    """Only refresh tokens are encrypted: an entry can be read until it is near its expiry."""

    def _is_lost(self, entry: VaultEntry) -> bool:
        return self._policies.step(entry, self._clock.now()) == "refresh"


DEFECTS = (
    defect(
        "vault-lost-at-a-rotation (VAULT-01 KEYS-04): The gateway encrypts its vault with the signing key; "
        "after a rotation it finds no merchant token that was stored before.",
        vault_factory=UnderTheSigningKey,
    ),
    defect(
        "refresh-tokens-lost-at-a-rotation (VAULT-01): The gateway encrypts refresh tokens of merchants with "
        "the signing key; after a rotation it cannot refresh with those stored before.",
        vault_factory=RefreshTokensUnderTheSigningKey,
    ),
)
