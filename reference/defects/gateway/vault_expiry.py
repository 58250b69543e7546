"""Gateways that store, show or use a wrong expiry of a merchant token."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.defect import without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.redemption import redemption_answer
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import JsonObject

AN_HOUR_S = 3600


def without_expires_at(entry: VaultEntry) -> JsonObject:
    """Leaves out expires_at, which is optional, so that answers do not show the wrong expiry."""
    return without_members(redemption_answer(entry), "expires_at")


def due_as_before(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return replace(
        vault.refreshed_entry(old, answer, now), issued_at=old.issued_at, expires_at=old.expires_at
    )


def due_as_the_lost_one(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Updates the tokens in an existing row, but not its times."""
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    if old is None or verdict != "accepted" or new is None:
        return new
    return replace(new, issued_at=old.issued_at, expires_at=old.expires_at)


def near_for_an_hour(entry: VaultEntry, now: float) -> Step:
    honest = vault.step(entry, now)
    near = entry.expires_at is not None and now >= entry.expires_at - AN_HOUR_S
    return "refresh" if honest == "return" and near and entry.refresh_token is not None else honest


def in_32_bits(entry: VaultEntry) -> VaultEntry:
    """`int ttl = json.expiresIn; expiresAt = now + ttl * 1000`: overflows if ttl is more than 24 days."""
    if entry.expires_at is None:
        return entry
    milliseconds = round((entry.expires_at - entry.issued_at) * 1000)
    return replace(entry, expires_at=entry.issued_at + ((milliseconds + 2**31) % 2**32 - 2**31) / 1000)


def provisioned_in_32_bits(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    return in_32_bits(entry) if entry is not None and verdict == "accepted" else entry


DEFECTS = (
    defect(
        "long-life-in-32-bits (VAULT-05 REDEEM-16): The gateway stores the lifetime of a merchant token in "
        "milliseconds in 32 bits, which overflows after 24 days.",
        entry_after_provisioning=provisioned_in_32_bits,
        refreshed_entry=lambda old, answer, now: in_32_bits(vault.refreshed_entry(old, answer, now)),
    ),
    defect(
        "long-life-shown-in-32-bits (REDEEM-16): expires_at is computed from the lifetime in milliseconds "
        "in 32 bits; the stored expiry is correct.",
        redemption_answer=lambda entry: redemption_answer(in_32_bits(entry)),
    ),
    defect(
        "old-expiry-after-a-refresh (VAULT-05): A refresh stores the new merchant token with the expiry of "
        "the old one; redemption answers have no expires_at.",
        refreshed_entry=due_as_before,
        redemption_answer=without_expires_at,
    ),
    defect(
        "old-expiry-after-a-new-sign-in (VAULT-05): A new sign-in stores the new merchant token with the "
        "expiry of the old one; redemption answers have no expires_at.",
        entry_after_provisioning=due_as_the_lost_one,
        redemption_answer=without_expires_at,
    ),
    defect(
        "near-for-an-hour (VAULT-05): The gateway treats the last hour of a merchant token as near expiry, "
        "so it refreshes most tokens every time.",
        step=near_for_an_hour,
    ),
)
