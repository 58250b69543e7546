"""Gateways that sign the ID token of a refresh with another key than that of a code exchange."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy import code_exchange, key_sets
from gateproof.reference.gateway.policy.code_exchange import RefreshFacts, TokenRequestFacts
from gateproof.reference.outcomes import Refusal


def signed_otherwise(key: Callable[[KeyRing, SigningKey], SigningKey]) -> dict[str, Any]:
    """ID tokens of refreshes are signed with the key that `key` returns."""
    refreshes: ContextVar[bool] = ContextVar("refreshes", default=False)

    def exchange(facts: TokenRequestFacts) -> Refusal | None:
        refreshes.set(False)
        return code_exchange.exchange_fields_are_given(facts)

    def refresh(_facts: RefreshFacts) -> Refusal | None:
        refreshes.set(True)
        return None

    def chosen(core: KeyRing, own: SigningKey) -> SigningKey:
        otherwise = key(core, own)
        return otherwise if refreshes.get() else key_sets.id_token_key(core, own)

    return {
        "exchange_fields": exchange,
        "refresh_checks": (refresh, *code_exchange.REFRESH_CHECKS),
        "id_token_key": chosen,
    }


def unpublished() -> Callable[[KeyRing, SigningKey], SigningKey]:
    """After a rotation, a key that is in no key set, as a signer that was loaded at the start may have."""
    first: list[SigningKey] = []

    def key(core: KeyRing, own: SigningKey) -> SigningKey:
        current = key_sets.id_token_key(core, own)
        first[1:] = []
        first.append(current)
        return current if first[0].kid == current.kid else own

    return key


DEFECTS = (
    defect(
        "refreshed-id-token-under-the-resources-key (CLAIM-11): The ID token of a refresh is signed with the "
        "Resource's own key.",
        **signed_otherwise(lambda _core, own: own),
    ),
    defect(
        "refreshed-id-token-after-a-rotation-under-the-resources-key (CLAIM-11): After a rotation, the ID "
        "token of a refresh is signed with the Resource's own key.",
        **signed_otherwise(unpublished()),
    ),
)
