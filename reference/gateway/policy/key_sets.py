"""Which key signs what, and which keys are published."""

from __future__ import annotations

from base64 import urlsafe_b64encode

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateproof.reference.gateway.keys import KeyRing, PrivateKey, SigningKey
from gateproof.reference.gateway.policy.token_claims import ACCESS_TOKEN_LIFETIME_S
from gateproof.reference.outcomes import JsonObject

COORDINATE_OCTETS = 32


def access_token_key(core: KeyRing, own: SigningKey) -> SigningKey:  # noqa: ARG001 - a Resource's own key never
    """Gateway access tokens are signed by the core, whatever the Resource."""
    return core.current


def id_token_key(core: KeyRing, own: SigningKey) -> SigningKey:  # noqa: ARG001 - a Resource's own key never
    """ID tokens are signed by the core, too."""
    return core.current


def assertion_key(core: KeyRing, own: SigningKey) -> SigningKey:  # noqa: ARG001 - the core's key never
    """Assertions to the merchant are signed with the Resource's own key."""
    return own


def live_core_keys(core: KeyRing, now: float) -> tuple[SigningKey, ...]:
    """The current key, and every retired key until its last token has expired."""
    alive = (old.key for old in core.retired if now < old.retired_at + ACCESS_TOKEN_LIFETIME_S)
    return (core.current, *alive)


def core_keys_shown(
    core: KeyRing,
    now: float,
    own: tuple[SigningKey, ...],  # noqa: ARG001 - Resources' own keys never
) -> tuple[SigningKey, ...]:
    """The core key set has the core's keys only."""
    return live_core_keys(core, now)


def resource_keys_shown(core: KeyRing, own: SigningKey) -> tuple[SigningKey, ...]:  # noqa: ARG001 - the core's never
    """A Resource's key set has only its own key."""
    return (own,)


def public_jwk(key: SigningKey) -> JsonObject:
    """The JWK of the public key."""
    return {**_public_numbers(key.private), "kid": key.kid, "use": "sig", "alg": key.algorithm}


def key_set(jwks: list[JsonObject]) -> JsonObject:
    return {"keys": jwks}


def _public_numbers(private: PrivateKey) -> JsonObject:
    if isinstance(private, rsa.RSAPrivateKey):
        key = private.public_key().public_numbers()
        return {"kty": "RSA", "n": _number(key.n), "e": _number(key.e)}
    if isinstance(private, ec.EllipticCurvePrivateKey):
        # With leading zeros: RFC 7518 section 6.2.1.2 requires the full length.
        point = private.public_key().public_numbers()
        x, y = (_base64url(value.to_bytes(COORDINATE_OCTETS, "big")) for value in (point.x, point.y))
        return {"kty": "EC", "crv": "P-256", "x": x, "y": y}
    raw = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return {"kty": "OKP", "crv": "Ed25519", "x": _base64url(raw)}


def _number(value: int) -> str:
    return _base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _base64url(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()
