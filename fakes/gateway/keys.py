"""The keys of a scripted gateway, and signing with them."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.api_jws import PyJWS

_PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
_JWS = PyJWS()
_KINDS: Mapping[str, type[_PrivateKey]] = {
    "ES256": ec.EllipticCurvePrivateKey,
    "RS256": rsa.RSAPrivateKey,
    "PS256": rsa.RSAPrivateKey,
    "EdDSA": ed25519.Ed25519PrivateKey,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningKey:
    """A private key and the JWK of its public key."""

    algorithm: str
    private: _PrivateKey = field(repr=False)
    jwk: Mapping[str, Any]

    @property
    def kid(self) -> str:
        return str(self.jwk["kid"])


def kept_key(file: Path, algorithm: str = "ES256") -> SigningKey:
    """The key in a file; a missing file is created with a new key.

    Raises ValueError if the file has a key of another kind.
    """
    if not file.is_file():
        pem = _generated(algorithm).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.touch(mode=0o600)
        file.write_bytes(pem)
    loaded = load_pem_private_key(file.read_bytes(), None)
    if not isinstance(loaded, _KINDS[algorithm]):
        raise ValueError(
            f"{file} holds a key that does not fit {algorithm}: delete the file, or configure its algorithm"
        )
    return _named(loaded, algorithm, hashlib.sha256(file.read_bytes()).hexdigest()[:12])


def new_key(algorithm: str) -> SigningKey:
    """A new key with a random key ID."""
    return _named(_generated(algorithm), algorithm, secrets.token_urlsafe(9))


def _generated(algorithm: str) -> _PrivateKey:
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _named(private: _PrivateKey, algorithm: str, kid: str) -> SigningKey:
    public: dict[str, Any]
    if isinstance(private, ec.EllipticCurvePrivateKey):
        public = ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    elif isinstance(private, ed25519.Ed25519PrivateKey):
        public = OKPAlgorithm.to_jwk(private.public_key(), as_dict=True)
    else:
        public = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    public.pop("key_ops", None)
    jwk = {**public, "kid": kid, "use": "sig", "alg": algorithm}
    return SigningKey(algorithm=algorithm, private=private, jwk=jwk)


def signed(claims: Mapping[str, Any], key: SigningKey, **header: Any) -> str:
    """A JWT with these claims; a header member that is None is left out."""
    kept = {"typ": "JWT", "kid": key.kid, **header}
    members = {name: value for name, value in kept.items() if value is not None}
    return _JWS.encode(json.dumps(dict(claims)).encode(), key.private, key.algorithm, members)


def key_set(*keys: SigningKey) -> dict[str, Any]:
    """The JWK Set of the public keys."""
    return {"keys": [dict(key.jwk) for key in keys]}
