"""Gateways that store a response of the merchant that contains no merchant token."""

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
    """Stores the member access_token without validation."""
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    if entry is None or verdict != "accepted":
        return entry
    return replace(entry, access_token=cast("str", (answer.document or {}).get("access_token")))


def reauthentication_after_an_unreadable_200(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """Requires reauthentication if the merchant's 200 at sign-in cannot be read."""
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    if entry is None and answer.status == 200:
        return vault.rejected_entry(vault.entry_from(answer, now))
    return entry


DEFECTS = (
    defect(
        "nonsense-kept-as-a-token (REDEEM-10 REDEEM-01): The gateway stores the access_token of any 200 of "
        "the merchant at sign-in without validation, and redemption returns it.",
        provisioning_verdict=any_200,
        entry_after_provisioning=as_it_came,
    ),
    defect(
        "nonsense-needs-reauthentication (REDEEM-10): If the gateway cannot read the merchant's 200 at "
        "sign-in, redemption answers 410.",
        entry_after_provisioning=reauthentication_after_an_unreadable_200,
    ),
)
