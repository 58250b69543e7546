"""Vaults that delete merchant tokens after some time, which the specification leaves open."""

from __future__ import annotations

from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.policy.vault import Step
from gateproof.reference.gateway.records import VaultEntry
from gateproof.reference.variants.variant import variant

DAY_S = 86_400


def let_go_after_a_week(entry: VaultEntry, now: float) -> Step:
    return "reauthenticate" if now > entry.issued_at + 7 * DAY_S else vault.step(entry, now)


VARIANTS = (
    variant(
        "merchant-tokens-kept-for-a-week: the user has to authorize again a week after the merchant token "
        "was issued or refreshed",
        step=let_go_after_a_week,
    ),
)
