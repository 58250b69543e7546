"""Gateways that keep something that is no merchant token."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import VaultEntry


def any_200(answer: MerchantAnswer) -> Verdict:
    return "accepted" if answer.status == 200 else vault.provisioning_verdict(answer)


def as_it_came(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """The member access_token is kept, whatever it is."""
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    if entry is None or verdict != "accepted":
        return entry
    return replace(entry, access_token=cast("str", (answer.document or {}).get("access_token")))


def lost_by_nonsense(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """A user for whom a sign-in brought nothing that can be read has to authorize again."""
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    if entry is None and answer.status == 200:
        return vault.rejected_entry(vault.entry_from(answer, now))
    return entry


DEFECTS = (
    defect(
        "nonsense-kept-as-a-token (REDEEM-10 REDEEM-01): A 200 of the merchant at sign-in fills the vault, "
        "and redemption hands out what it holds for a token.",
        provisioning_verdict=any_200,
        entry_after_provisioning=as_it_came,
    ),
    defect(
        "nonsense-needs-reauthentication (REDEEM-10): If the merchant's answer at sign-in cannot be read, "
        "redemption answers 410.",
        entry_after_provisioning=lost_by_nonsense,
    ),
)
