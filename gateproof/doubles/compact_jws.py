"""Signs and parses JWTs with less work than PyJWT.

PyJWT checks every argument of a caller who signs, and every character of a JWT in Python; that takes longer
than a signature or its verification.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jwt
from jwt.algorithms import Algorithm


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedJwt:
    """A JWT, not verified."""

    header: dict[str, Any]
    claims: dict[str, Any]
    signed: bytes
    signature: bytes


def parsed_jwt(token: str, *, may_be_padded: bool = False) -> ParsedJwt | None:
    """Parses a compact JWT; None if it is none, or has an extension that changes its meaning."""
    try:
        signed, _, signature = token.encode("ascii").rpartition(b".")
        header, claims = (json.loads(_octets(part, may_be_padded)) for part in signed.split(b"."))
        octets = _octets(signature, may_be_padded)
    except (ValueError, RecursionError):
        return None
    if not isinstance(header, dict) or not isinstance(claims, dict) or not _is_understood(header):
        return None
    return ParsedJwt(header=header, claims=claims, signed=signed, signature=octets)


def is_signed_with(given: ParsedJwt, public_key: Any, algorithm: str) -> bool:
    """True if the JWT names this algorithm and this key signed it; the key has to fit the algorithm."""
    return given.header.get("alg") == algorithm and bool(
        _algorithm(algorithm).verify(given.signed, public_key, given.signature)
    )


def signed_jwt(claims: dict[str, Any], key: Any, algorithm: str, *, kid: str, typ: str = "JWT") -> str:
    """The octets of `jwt.encode` with these headers; the key has to fit the algorithm."""
    payload = _base64url(json.dumps(claims, separators=(",", ":")).encode("ascii"))
    signing_input = _header(algorithm, kid, typ) + b"." + payload
    signature = _algorithm(algorithm).sign(signing_input, key)
    return (signing_input + b"." + _base64url(signature)).decode("ascii")


@lru_cache(maxsize=4096)
def _header(algorithm: str, kid: str, typ: str) -> bytes:
    header = {"alg": algorithm, "kid": kid, "typ": typ}
    return _base64url(json.dumps(header, separators=(",", ":")).encode("ascii"))


@lru_cache(maxsize=16)
def _algorithm(name: str) -> Algorithm:
    return jwt.get_algorithm_by_name(name)


def _base64url(octets: bytes) -> bytes:
    return urlsafe_b64encode(octets).rstrip(b"=")


def _octets(part: bytes, may_be_padded: bool) -> bytes:
    """Decodes base64url; refuses every other spelling of the same octets, except allowed padding."""
    if part.endswith(b"=") and (len(part) % 4 or not may_be_padded):
        raise ValueError("wrong padding")
    octets = urlsafe_b64decode(part + b"=" * (-len(part) % 4))
    if _base64url(octets) != part.rstrip(b"="):
        raise ValueError("not base64url")
    return octets


def _is_understood(header: dict[str, Any]) -> bool:
    """False if the key ID is not a text, or if there is an extension that changes the meaning (RFC 7515)."""
    plain = "crit" not in header and header.get("b64", True) is not False
    return plain and isinstance(header.get("kid", ""), str)
