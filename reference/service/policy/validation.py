"""The validation of gateway access tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jwt

from gateproof.reference.service.settings import Settings
from gateproof.reference.service.wire import Asked

# RFC 6750 section 2.1.
BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)
ALGORITHMS = frozenset({"RS256", "PS256", "ES256", "ES384", "EdDSA"})
# Claims are checked below.
SIGNATURE_ONLY: Any = {f"verify_{name}": False for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}
Jwk = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimFacts:
    """Claims with a valid signature, and the expected values."""

    token: str = field(repr=False)
    claims: Mapping[str, Any] = field(repr=False)
    issuer: str
    settings: Settings
    now: float


ClaimCheck = Callable[[ClaimFacts], bool]


def presented_token(asked: Asked) -> str | None:
    """The token of the only Authorization header; tokens in other places are ignored."""
    authorizations = asked.headers_named("authorization")
    found = BEARER.fullmatch(authorizations[0]) if len(authorizations) == 1 else None
    return found[1] if found else None


def key_set_uris(_settings: Settings, discovery: Mapping[str, Any]) -> tuple[Any, ...]:
    """The core key set of the discovery document; the Resource's key set is for the merchant."""
    return (discovery.get("jwks_uri"),)


def candidates(header: Mapping[str, Any], keys: Sequence[Jwk]) -> list[Jwk]:
    """The keys of the set that may fit; keys and URLs in the header are ignored."""
    kid = header.get("kid")
    return [jwk for jwk in keys if kid is None or jwk.get("kid") in (None, kid)]


def verified(token: str, jwk: Jwk, algorithm: str) -> dict[str, Any] | None:
    """The claims, if this key signed them."""
    try:
        key = jwt.PyJWK(dict(jwk), algorithm=algorithm).key
        claims: dict[str, Any] = jwt.decode(token, key, algorithms=[algorithm], options=SIGNATURE_ONLY)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return claims


def header_of(token: str) -> Mapping[str, Any]:
    """The header, not verified; empty if this is not a JWT."""
    try:
        return jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        return {}


def signed_claims(
    token: str,
    keys: Sequence[Jwk],
    *,
    algorithms: Collection[Any] = ALGORITHMS,
    chosen: Callable[[Mapping[str, Any], Sequence[Jwk]], Sequence[Jwk]] = candidates,
) -> dict[str, Any] | None:
    """The claims, if one of these keys signed them with an asymmetric algorithm."""
    header = header_of(token)
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in algorithms:
        return None
    tried = (verified(token, jwk, str(algorithm)) for jwk in chosen(header, keys))
    return next((claims for claims in tried if claims is not None), None)


def issued_by_the_core(facts: ClaimFacts) -> bool:
    return bool(facts.claims.get("iss") == facts.issuer)


def audiences(facts: ClaimFacts) -> list[Any]:
    audience = facts.claims.get("aud")
    return audience if isinstance(audience, list) else [audience]


def meant_for_the_merchant_api(facts: ClaimFacts) -> bool:
    """The audience has to contain the Resource indicator; the service's own URL does not count."""
    return facts.settings.indicator in audiences(facts)


def expiry(facts: ClaimFacts) -> float | None:
    """The number unchanged: JSON allows numbers that are too large for a float."""
    expires = facts.claims.get("exp")
    return expires if isinstance(expires, int | float) and not isinstance(expires, bool) else None


def not_expired(facts: ClaimFacts) -> bool:
    expires = expiry(facts)
    return expires is not None and facts.now < expires


CLAIM_CHECKS: tuple[ClaimCheck, ...] = (issued_by_the_core, meant_for_the_merchant_api, not_expired)
