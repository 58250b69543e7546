"""The source of identifiers, secrets and keys, and fingerprints of secrets."""

from __future__ import annotations

import hashlib
import secrets
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import ec


class Ids(Protocol):
    """The gateway's only source of randomness."""

    def identifier(self, prefix: str) -> str:
        """A random identifier such as `res_…`: a prefix and 128 random bits."""
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
    """The hash of a secret, which is stored in place of the secret.

    A plain hash is enough for 256 random bits. A lookup by hash does not leak the secret by its timing.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
