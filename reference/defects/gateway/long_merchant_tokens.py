"""Gateways whose database holds merchant tokens of a limited length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import VaultEntry

COLUMN = 2048
Stored = Callable[[VaultEntry | None, Verdict, MerchantAnswer, float], VaultEntry | None]


def stored(change: Callable[[VaultEntry], VaultEntry | None]) -> Stored:
    """An accepted answer is stored after this change."""

    def entry(
        old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
    ) -> VaultEntry | None:
        new = vault.entry_after_provisioning(old, verdict, answer, now)
        return change(new) if new is not None and verdict == "accepted" else new

    return entry


def none_that_is_longer(entry: VaultEntry) -> VaultEntry | None:
    return entry if len(entry.access_token) <= COLUMN else None


def cut(entry: VaultEntry) -> VaultEntry:
    return replace(entry, access_token=entry.access_token[:COLUMN])


def refresh_token_cut(entry: VaultEntry) -> VaultEntry:
    return replace(entry, refresh_token=(entry.refresh_token or "")[:COLUMN] or None)


DEFECTS = (
    defect(
        "long-merchant-token-not-stored (REDEEM-01): The database refuses a merchant token of more than 2048 "
        "characters, and the gateway ignores the error.",
        entry_after_provisioning=stored(none_that_is_longer),
    ),
    defect(
        "long-merchant-token-cut (REDEEM-01): The database stores the first 2048 characters of a merchant "
        "token.",
        entry_after_provisioning=stored(cut),
    ),
    defect(
        "long-refresh-token-cut (VAULT-01): The database stores the first 2048 characters of a merchant's "
        "refresh token.",
        entry_after_provisioning=stored(refresh_token_cut),
    ),
)
