"""Gateways that remember a failed request for a merchant token at sign-in."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import Grant, Resource, VaultEntry, VaultKey

_NOTHING = VaultEntry(
    access_token="",
    refresh_token=None,
    issued_at=0.0,
    expires_at=0.0,
    scopes=None,
    needs_reauthentication=True,
)


def kept_without_tokens(
    old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
) -> VaultEntry | None:
    """`except Exception: store(user, status="error")`: such an entry has no refresh token."""
    entry = vault.entry_after_provisioning(old, verdict, answer, now)
    return _NOTHING if entry is None and verdict == "transient" else entry


def in_progress_for_good() -> dict[str, Any]:
    """A mark against a second request at once, which an error does not remove."""
    marked: set[VaultKey] = set()
    asked_for: ContextVar[VaultKey | None] = ContextVar("asked_for", default=None)

    def key(grant: Grant, resource: Resource) -> VaultKey:
        found = redemption.vault_key(grant, resource)
        asked_for.set(found)
        return found

    def entry(
        old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
    ) -> VaultEntry | None:
        whose = asked_for.get()
        if whose is None or whose in marked:
            return old
        if verdict == "transient":
            marked.add(whose)
        return vault.entry_after_provisioning(old, verdict, answer, now)

    return {"vault_key": key, "entry_after_provisioning": entry}


DEFECTS = (
    defect(
        "failed-provisioning-needs-reauthentication (REDEEM-10): If the merchant fails at sign-in, "
        "redemption answers 410.",
        entry_after_provisioning=kept_without_tokens,
    ),
    defect(
        "failed-provisioning-is-in-progress-for-good (REDEEM-10): If the merchant failed at a sign-in, the "
        "gateway requests no merchant token at the user's later sign-ins.",
        **in_progress_for_good(),
    ),
)
