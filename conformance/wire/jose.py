"""JWTs and keys for parties without secrets: parsing, and verification with public keys."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from jwt.algorithms import OKPAlgorithm
from jwt.api_jws import PyJWS

_ALGORITHMS = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512", "ES256K"),
    "OKP": ("EdDSA", "Ed25519", "Ed448"),
}
_COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
# A verifier that accepts only the algorithms of these key types, not "none" or HMAC.
_VERIFIER = PyJWS(algorithms=[name for names in _ALGORITHMS.values() for name in names])
# The fully specified names of RFC 9864, which the library does not support yet.
for _name in ("Ed25519", "Ed448"):
    _VERIFIER.register_algorithm(_name, OKPAlgorithm())


@dataclass(frozen=True, kw_only=True, slots=True)
class Jwt:
    """A compact JWT, parsed but not verified."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]


def unsigned_jwt(claims: Mapping[str, Any]) -> str:
    """A JWT with alg none, which anybody can make."""
    return jwt.encode(dict(claims), "", algorithm="none")


def read(token: str) -> Jwt | None:
    """Header and claims of a token; None if it is no JWT in compact form."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    header, claims = (_json_object(part) for part in parts[:2])
    if header is None or claims is None or "alg" not in header:
        return None
    return Jwt(header=header, claims=claims)


def is_compact(token: str) -> bool:
    """True for three parts in unpadded base64url (RFC 7515 section 2); some verifiers need this form."""
    return _COMPACT.fullmatch(token) is not None


def keys_of(document: Any) -> list[dict[str, Any]]:
    """The keys of a JWK Set that are JSON objects."""
    keys = document.get("keys") if isinstance(document, dict) else None
    return [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []


def verifying(token: str, keys: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The keys with which the signature verifies; unknown key types verify nothing."""
    return [key for key in keys if _verifies(token, key)]


def _verifies(token: str, key: Mapping[str, Any]) -> bool:
    algorithms = _ALGORITHMS.get(str(key.get("kty")))
    if algorithms is None:
        return False
    parsed = read(token)
    algorithm = str(parsed.header.get("alg")) if parsed is not None else ""
    if algorithm not in algorithms:
        return False
    public = {name: value for name, value in key.items() if name in {"kty", "n", "e", "crv", "x", "y"}}
    family = "EdDSA" if key["kty"] == "OKP" else algorithm
    try:
        _VERIFIER.decode(token, jwt.PyJWK(public, algorithm=family).key, algorithms=[algorithm])
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, NotImplementedError):
        return False
    return True


def _json_object(part: str) -> dict[str, Any] | None:
    try:
        document = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
    return document if isinstance(document, dict) else None
