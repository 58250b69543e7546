"""Gateways that expect no two merchants to give their keys the same key ID."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.records import MerchantPlace


def keys_by_id() -> dict[str, Any]:
    """Looks up each key where its key ID came from at first."""
    first: dict[object, str] = {}
    return {"key_set_uri": lambda merchant, kid: first.setdefault(kid, merchant.jwks_uri)}


def keys_of_the_newest_merchant() -> dict[str, Any]:
    """One table of keys for all merchants: the first sign-in at a merchant replaces rows with the same ID."""
    newest: dict[object, str] = {}
    seen: set[str] = set()

    def uri(merchant: MerchantPlace, kid: object) -> str:
        if merchant.jwks_uri not in seen:
            seen.add(merchant.jwks_uri)
            newest[kid] = merchant.jwks_uri
        return newest[kid]

    return {"key_set_uri": uri}


DEFECTS = (
    defect(
        "merchant-keys-by-key-id (AUTHZ-01): The gateway looks up a merchant's key by its key ID only, so of "
        "two merchants with the same key ID it knows only the first one's key.",
        **keys_by_id(),
    ),
    defect(
        "merchant-keys-replaced-by-key-id (AUTHZ-01): The key of a new merchant replaces that of an earlier "
        "merchant with the same key ID.",
        **keys_of_the_newest_merchant(),
    ),
)
