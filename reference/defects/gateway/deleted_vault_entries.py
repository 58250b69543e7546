"""Gateways that delete a vault entry, or its refresh token, when or after the merchant token expires."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import Step
from gateproof.reference.gateway.records import Resource, VaultEntry, VaultKey
from gateproof.reference.gateway.vault import Vault
from gateproof.reference.outcomes import Refusal

TWO_HOURS_S, HOUR_S = 7200, 3600


class InACache(Vault):
    """A cache deletes each entry when its merchant token expires, by the clock of the machine."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._ends: dict[str, float] = {}

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        entry = self._store.vault.get(key)
        if entry is not None and entry.expires_at is not None:
            life_s = entry.expires_at - entry.issued_at
            if time.monotonic() > self._ends.setdefault(entry.access_token, time.monotonic() + life_s):
                self._store.vault.pop(key, None)
                return self._gone()
        return await super().merchant_token(key, resource)

    def _gone(self) -> Refusal:
        return self._policies.nothing_cached()


class RefreshTokenInACache(InACache):
    """Deletes the refresh token with the access token; the next redemption answers 410."""

    def _gone(self) -> Refusal:
        return self._policies.reauthentication_required()


class DeletedAfterTwoHours(Vault):
    """Deletes entries that expired two hours ago, as a periodic task does."""

    async def merchant_token(self, key: VaultKey, resource: Resource) -> VaultEntry | Refusal:
        entry = self._store.vault.get(key)
        expires_at = entry.expires_at if entry is not None else None
        if expires_at is not None and self._clock.now() > expires_at + TWO_HOURS_S:
            self._store.vault.pop(key, None)
        return await super().merchant_token(key, resource)


def given_up_after(seconds: float) -> Callable[[VaultEntry, float], Step]:
    def step(entry: VaultEntry, now: float) -> Step:
        over = entry.expires_at is not None and now > entry.expires_at + seconds
        return "reauthenticate" if over else vault.step(entry, now)

    return step


DEFECTS = (
    defect(
        "vault-in-a-cache (VAULT-01 VAULT-06 ROBUST-02 ROBUST-04): The gateway deletes a vault entry, "
        "including its refresh token, when the merchant token expires by the machine's clock.",
        vault_factory=InACache,
    ),
    defect(
        "refresh-token-in-a-cache (VAULT-01 VAULT-06 ROBUST-02 ROBUST-04): The gateway deletes the refresh "
        "token when the merchant token expires by the machine's clock, and answers 410.",
        vault_factory=RefreshTokenInACache,
    ),
    defect(
        "expired-entries-cleared-away (VAULT-01): The gateway deletes a vault entry two hours after its "
        "expiry, even if it has a refresh token.",
        vault_factory=DeletedAfterTwoHours,
    ),
    defect(
        "expired-an-hour-ago-is-lost (VAULT-01): The gateway does not refresh a merchant token that expired "
        "more than an hour ago, and answers 410.",
        step=given_up_after(HOUR_S),
    ),
)
