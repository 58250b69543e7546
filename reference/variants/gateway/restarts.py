"""Data that a gateway may lose when it is killed and restarted."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.gateway.store import Expiring, Store
from gateproof.reference.ids import Ids
from gateproof.reference.variants.variant import variant

SIGN_IN_KEPT_S, BROWSER_KEPT_S = 600, 3600


def _without_browsers(store: Store, _ids: Ids) -> Store:
    return replace(store, sign_ins=Expiring(keep_s=SIGN_IN_KEPT_S), browsers=Expiring(keep_s=BROWSER_KEPT_S))


VARIANTS = (
    variant(
        "sessions-end-with-the-process: a restart ends all browser sessions and sign-ins that have begun",
        left_after_a_restart=_without_browsers,
    ),
)
