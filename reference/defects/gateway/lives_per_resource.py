"""Gateways that keep the lifetime of merchant tokens for the Resource, and not for each token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import vault
from gateproof.reference.gateway.records import VaultEntry


def _newest(entry: VaultEntry) -> float:
    return entry.issued_at


def life_of(which: Callable[[list[VaultEntry]], VaultEntry]) -> dict[str, Any]:
    """Every entry of a Resource lives as long as one of them does."""
    gateways: list[Gateway] = []

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        gateways.append(gateway)
        return app

    def step(entry: VaultEntry, now: float) -> vault.Step:
        for gateway in gateways:
            entries = gateway.store.vault
            key = next((key for key, each in entries.items() if each is entry), None)
            if key is None or entry.expires_at is None:
                continue
            lasting = [
                each
                for other, each in entries.items()
                if other.resource_id == key.resource_id and each.expires_at is not None
            ]
            chosen = which(lasting)
            life_s = (chosen.expires_at or 0.0) - chosen.issued_at
            return vault.step(replace(entry, expires_at=entry.issued_at + life_s), now)
        return vault.step(entry, now)

    return {"around": around, "step": step}


DEFECTS = (
    defect(
        "life-of-the-newest-token (VAULT-01 VAULT-05): All merchant tokens of a Resource expire as long "
        "after their issue as the newest one does.",
        **life_of(lambda entries: max(entries, key=_newest)),
    ),
    defect(
        "life-of-the-shortest-token (VAULT-05): All merchant tokens of a Resource expire as early after "
        "their issue as the one with the shortest lifetime does.",
        **life_of(lambda entries: min(entries, key=lambda each: (each.expires_at or 0.0) - each.issued_at)),
    ),
)
