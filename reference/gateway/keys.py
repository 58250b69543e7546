"""Signing keys, and the ring that remembers those rotated out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from reference.gateway.ids import Ids

ALGORITHM = "ES256"


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningKey:
    """One ES256 key pair with its name."""

    kid: str
    private: ec.EllipticCurvePrivateKey = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class RetiredKey:
    """A key that signs no more, while what it signed is still in use."""

    key: SigningKey
    retired_at: float


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRing:
    """The key that signs now, and those that did before."""

    current: SigningKey
    retired: tuple[RetiredKey, ...] = ()


def new_key(ids: Ids) -> SigningKey:
    return SigningKey(kid=ids.identifier("key_"), private=ids.key())


def rotated(ring: KeyRing, key: SigningKey, now: float) -> KeyRing:
    return replace(ring, current=key, retired=(*ring.retired, RetiredKey(key=ring.current, retired_at=now)))


def signed(key: SigningKey, claims: dict[str, Any], typ: str) -> str:
    """A compact JWT under this key."""
    return jwt.encode(claims, key.private, ALGORITHM, headers={"kid": key.kid, "typ": typ})
