"""Gateways in which a new authorization does not replace the refresh token of a lost merchant token."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import VaultEntry


def noted_as_rejected(old: VaultEntry) -> VaultEntry:
    """Marks the entry, but keeps its refresh token."""
    return replace(old, needs_reauthentication=True)


def older_token_first(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    if verdict != "accepted" or new is None or old is None or not old.needs_reauthentication:
        return new
    return replace(new, refresh_token=old.refresh_token or new.refresh_token)


def column_left_out(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Updates the row of a user who had to authorize again, except the column of the refresh token."""
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    if verdict != "accepted" or new is None or old is None or not _is_lost(old, now):
        return new
    return replace(new, refresh_token=old.refresh_token)


def _is_lost(old: VaultEntry, now: float) -> bool:
    return vault.step(old, now) == "reauthenticate"


DEFECTS = (
    defect(
        "rejected-refresh-token-kept (VAULT-04 ROBUST-04): When a user authorizes again, the gateway keeps "
        "the rejected refresh token instead of the new one.",
        rejected_entry=noted_as_rejected,
        entry_after_provisioning=older_token_first,
    ),
    defect(
        "refresh-token-not-updated (VAULT-04 ROBUST-04): When a user authorizes again, the gateway stores "
        "the new merchant token, but not its refresh token.",
        entry_after_provisioning=column_left_out,
    ),
)
