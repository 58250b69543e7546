"""Signing keys, and the key ring with the retired ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from gateproof.doubles.compact_jws import signed_jwt
from gateproof.reference.ids import Ids

ALGORITHM = "ES256"
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningKey:
    """One key pair with its key ID and algorithm."""

    kid: str
    private: PrivateKey = field(repr=False)
    algorithm: str = ALGORITHM


@dataclass(frozen=True, kw_only=True, slots=True)
class RetiredKey:
    """A key that does not sign any more, while its tokens are still valid."""

    key: SigningKey
    retired_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRing:
    """The current key and the retired keys."""

    current: SigningKey
    retired: tuple[RetiredKey, ...] = ()


def new_key(ids: Ids) -> SigningKey:
    """A new ES256 key."""
    return SigningKey(kid=ids.identifier("key_"), private=ids.key())


def rotated(ring: KeyRing, key: SigningKey, now: float) -> KeyRing:
    return replace(ring, current=key, retired=(*ring.retired, RetiredKey(key=ring.current, retired_at=now)))


def signed(key: SigningKey, claims: dict[str, Any], typ: str) -> str:
    """A compact JWT, signed with this key."""
    return signed_jwt(claims, key.private, key.algorithm, kid=key.kid, typ=typ)
