"""Other legal ways to handle a merchant token whose lifetime the merchant does not state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Verdict
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.variants.variant import variant

HOUR_S = 3600.0


def _living(life_s: float) -> dict[str, Any]:
    """Gives a new token without an expiry this lifetime."""

    def dated(entry: VaultEntry | None) -> VaultEntry | None:
        if entry is None or entry.expires_at is not None:
            return entry
        return replace(entry, expires_at=entry.issued_at + life_s)

    return {"entry_after_provisioning": _provisioned(dated)}


def _provisioned(dated: Callable[[VaultEntry | None], VaultEntry | None]) -> Any:
    def entry(
        old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
    ) -> VaultEntry | None:
        return dated(vault.entry_after_provisioning(old, verdict, answer, now))

    return entry


def _stated(verdict: Callable[[MerchantAnswer], Verdict]) -> Callable[[MerchantAnswer], Verdict]:
    """An answer that grants a token without `expires_in` does not count."""

    def strict(answer: MerchantAnswer) -> Verdict:
        stated = (answer.document or {}).get("expires_in") is not None
        return "transient" if verdict(answer) == "accepted" and not stated else verdict(answer)

    return strict


VARIANTS = (
    variant(
        "unstated-life-is-an-hour: the gateway gives a merchant token without expires_in a lifetime of one "
        "hour",
        **_living(HOUR_S),
    ),
    variant(
        "unstated-life-is-none: the gateway refreshes a merchant token without expires_in before its first "
        "redemption",
        **_living(0.0),
    ),
    variant(
        "unstated-life-is-no-answer: the gateway takes a merchant's answer without expires_in for a failure "
        "of the merchant",
        provisioning_verdict=_stated(vault.provisioning_verdict),
        refresh_verdict=_stated(vault.refresh_verdict),
    ),
)
