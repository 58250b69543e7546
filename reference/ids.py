"""Where identifiers, secrets and keys come from, and how a secret is remembered without being kept."""

from __future__ import annotations

import hashlib
import secrets
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import ec


class Ids(Protocol):
    """The gateway's only source of randomness."""

    def identifier(self, prefix: str) -> str:
        """A name that nobody guesses, such as `res_…`: 128 random bits behind a prefix."""
        ...

    def secret(self) -> str:
        """A credential of 256 random bits."""
        ...

    def key(self) -> ec.EllipticCurvePrivateKey: ...


class RandomIds:
    """Identifiers, secrets and keys from the operating system's randomness."""

    def identifier(self, prefix: str) -> str:
        return prefix + secrets.token_hex(16)

    def secret(self) -> str:
        return secrets.token_urlsafe(32)

    def key(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())


def fingerprint(secret: str) -> str:
    """What the store keeps of a secret: enough to recognise it, too little to use it.

    A plain hash is enough for 256 random bits, and looking one up in a table tells a listener with a
    stopwatch nothing about the secret itself.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
