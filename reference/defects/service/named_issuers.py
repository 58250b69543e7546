"""Services that fetch keys from the issuer that a token names."""

from __future__ import annotations

import json
import ssl
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from gateproof.reference.defects.service.claims import issuer, text
from gateproof.reference.defects.service.row import defect
from gateproof.reference.defects.service.signatures import unverified_claims
from gateproof.reference.service.policy.validation import ClaimFacts, Jwk, signed_claims


def by_their_issuer(looked_up: Callable[[str], str]) -> dict[str, Any]:
    """A token that the core did not sign is verified with the keys of the issuer that it names."""
    accepted: set[str] = set()

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        claims = signed_claims(token, keys)
        named = text((unverified_claims(token, keys) or {}).get("iss"))
        if claims is None and named.startswith("http"):
            try:
                claims = signed_claims(token, _keys_of(looked_up(named)))
            except (OSError, ValueError, KeyError, TypeError):
                return None
            if claims is not None:
                accepted.add(named)
        return claims

    def is_known(named: Any, facts: ClaimFacts) -> bool:
        return named == facts.issuer or text(named) in accepted

    return {"signed_claims": claims_of, **issuer(is_known)}


def _keys_of(named: str) -> Sequence[Jwk]:
    document = json.loads(_fetched(f"{named}/.well-known/openid-configuration"))
    keys: list[Jwk] = json.loads(_fetched(document["jwks_uri"]))["keys"]
    return keys


def _fetched(url: str) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(url, timeout=2, context=context) as answer:  # noqa: S310 - as a service does
        return bytes(answer.read())


def _at_its_root(named: str) -> str:
    parts = urlsplit(named)
    return f"{parts.scheme}://{parts.netloc}"


DEFECTS = (
    defect(
        "issuer-named-by-the-token (CHAL-05): The service fetches keys from the issuer in the token's iss, "
        "and accepts any issuer.",
        **by_their_issuer(lambda named: named),
    ),
    defect(
        "issuers-host-named-by-the-token (CHAL-05): The service fetches keys from the host of the issuer in "
        "the token's iss, and accepts any issuer.",
        **by_their_issuer(_at_its_root),
    ),
)
