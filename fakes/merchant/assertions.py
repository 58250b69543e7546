"""Verification of JWTs from the gateway with the keys of the client's JWKS."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jwt

from gateproof.doubles.compact_jws import parsed_jwt
from gateproof.fakes.merchant.clock import LEEWAY_S, Clock
from gateproof.fakes.merchant.key_sets import PublicKey

KEY_TYPES: dict[str, tuple[str, tuple[str | None, ...]]] = {
    "RS256": ("RSA", (None,)),
    "PS256": ("RSA", (None,)),
    "ES256": ("EC", ("P-256",)),
    "ES384": ("EC", ("P-384",)),
    "EdDSA": ("OKP", ("Ed25519", "Ed448")),
}
LONGEST = 16_384


class AssertionRefused(Exception):
    """The assertion is not accepted; the text says why, without content of the assertion."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Presented:
    """A parsed JWT, not verified."""

    algorithm: str
    kid: str | None
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """The claims of a JWT with a valid signature, and the ID of the key."""

    claims: dict[str, Any]
    key: str


def presented(token: str) -> Presented:
    """Parses a compact JWT without verifying it."""
    if len(token) > LONGEST:
        raise AssertionRefused("longer than 16 kB")
    parsed = parsed_jwt(token, may_be_padded=True)
    if parsed is None:
        raise AssertionRefused("not a JWT")
    algorithm = parsed.header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in KEY_TYPES:
        raise AssertionRefused(f"its alg is none of {', '.join(KEY_TYPES)}")
    return Presented(
        algorithm=algorithm,
        kid=parsed.header.get("kid"),
        claims=parsed.claims,
        signed=parsed.signed,
        signature=parsed.signature,
    )


def verified(given: Presented, keys: Iterable[PublicKey]) -> Verified | None:
    """Tries each key that fits the algorithm and the key ID."""
    kty, curves = KEY_TYPES[given.algorithm]
    for key in keys:
        fits = key.kty == kty and key.crv in curves and key.alg in (None, given.algorithm)
        named = given.kid is None or key.kid in (None, given.kid)
        material = _usable(key.jwk, given.algorithm) if fits and named else None
        if material is not None and material.Algorithm.verify(given.signed, material.key, given.signature):
            return Verified(claims=given.claims, key=key.kid or _thumbprint(key))
    return None


def check_claims(claims: dict[str, Any], *, audiences: frozenset[str], clock: Clock) -> None:
    """Checks the audience, `exp` against real time, and `nbf` and `iat` against the target's clock."""
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if not any(isinstance(name, str) and name.rstrip("/") in audiences for name in named):
        raise AssertionRefused("aud is neither the issuer nor the token endpoint")
    for claim in ("exp", "nbf", "iat"):
        value = claims.get(claim, 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise AssertionRefused(f"{claim} is not a number")
    if "exp" in claims and claims["exp"] <= clock.wall() - LEEWAY_S:
        raise AssertionRefused("expired")
    for claim in ("nbf", "iat"):
        if claims.get(claim, 0) > clock.target() + LEEWAY_S:
            raise AssertionRefused(f"{claim} is in the future")


@lru_cache(maxsize=1024)
def _usable(jwk: str, algorithm: str) -> jwt.PyJWK | None:
    try:
        return jwt.PyJWK(json.loads(jwk), algorithm=algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None


def _thumbprint(key: PublicKey) -> str:
    """The RFC 7638 thumbprint, for a key without a key ID."""
    jwk = json.loads(key.jwk)
    members = {name: jwk[name] for name in ("crv", "e", "kty", "n", "x", "y") if name in jwk}
    digest = hashlib.sha256(json.dumps(members, sort_keys=True, separators=(",", ":")).encode()).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
