"""Which gateway access tokens the service accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import jwt

# RFC 6750 section 2.1.
BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)
ALGORITHMS = frozenset({"RS256", "PS256", "ES256", "ES384", "EdDSA"})
# Claims are looked at below, each against what the specification says of it.
SIGNATURE_ONLY: Any = {f"verify_{name}": False for name in ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")}


def bearer_token(authorizations: list[str]) -> str | None:
    """The token of the one Authorization header that there is; tokens elsewhere count as none."""
    found = BEARER.fullmatch(authorizations[0]) if len(authorizations) == 1 else None
    return found[1] if found else None


def signed_claims(token: str, keys: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The claims under a signature of one of these keys; what else the header points to is not looked at."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        return None
    for jwk in keys:
        if kid is not None and jwk.get("kid") not in (None, kid):
            continue
        try:
            key = jwt.PyJWK(dict(jwk), algorithm=algorithm).key
            claims: dict[str, Any] = jwt.decode(token, key, algorithms=[algorithm], options=SIGNATURE_ONLY)
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError):
            continue
        return claims
    return None


def acceptable(claims: Mapping[str, Any], *, issuer: str, indicator: str, now: float) -> bool:
    """Issued by the core, meant for the merchant's API, and not expired."""
    audience, expires = claims.get("aud"), claims.get("exp")
    audiences = audience if isinstance(audience, list) else [audience]
    dated = isinstance(expires, int | float) and not isinstance(expires, bool)
    return claims.get("iss") == issuer and indicator in audiences and dated and now < float(expires or 0)
