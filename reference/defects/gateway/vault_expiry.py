"""Gateways that get wrong when a merchant token of theirs is due."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.defect import lacking
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.redemption import redemption_answer
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.outcomes import JsonObject

AN_HOUR_S = 3600


def undated(entry: VaultEntry) -> JsonObject:
    """expires_at may be absent; so nobody outside sees what the gateway believes."""
    return lacking(redemption_answer(entry), "expires_at")


def due_as_before(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
    return replace(
        vault.refreshed_entry(old, answer, now), issued_at=old.issued_at, expires_at=old.expires_at
    )


def due_as_the_lost_one(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """The row that is there gets a new token, and nothing else of it is touched."""
    new = vault.entry_after_provisioning(old, verdict, answer, now)
    if old is None or verdict != "accepted" or new is None:
        return new
    return replace(new, issued_at=old.issued_at, expires_at=old.expires_at)


def near_for_an_hour(entry: VaultEntry, now: float) -> Step:
    honest = vault.step(entry, now)
    near = entry.expires_at is not None and now >= entry.expires_at - AN_HOUR_S
    return "refresh" if honest == "return" and near and entry.refresh_token is not None else honest


def in_32_bits(entry: VaultEntry) -> VaultEntry:
    """`int ttl = json.expiresIn; expiresAt = now + ttl * 1000`: beyond 24 days, the product is another."""
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
        "long-life-in-32-bits (VAULT-05 REDEEM-16): How long a merchant token lives is counted in "
        "milliseconds, in 32 bits.",
        entry_after_provisioning=provisioned_in_32_bits,
        refreshed_entry=lambda old, answer, now: in_32_bits(vault.refreshed_entry(old, answer, now)),
    ),
    defect(
        "long-life-shown-in-32-bits (REDEEM-16): The same for what a redemption says of it alone.",
        redemption_answer=lambda entry: redemption_answer(in_32_bits(entry)),
    ),
    defect(
        "old-expiry-after-a-refresh (VAULT-05): A refresh saves the new token and leaves the expiry of the "
        "old one, which no answer shows.",
        refreshed_entry=due_as_before,
        redemption_answer=undated,
    ),
    defect(
        "old-expiry-after-a-new-sign-in (VAULT-05): A new sign-in saves the new token and leaves the expiry "
        "of the lost one, which no answer shows.",
        entry_after_provisioning=due_as_the_lost_one,
        redemption_answer=undated,
    ),
    defect(
        "near-for-an-hour (VAULT-05): The last hour of a merchant token counts as near its expiry, and most "
        "live no longer.",
        step=near_for_an_hour,
    ),
)
