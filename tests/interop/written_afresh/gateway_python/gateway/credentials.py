"""Random credentials, and the digests that are stored in their place."""

import hashlib
import hmac
import secrets


def generate() -> str:
    return secrets.token_urlsafe(32)


def identifier(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


def digest(credential: str) -> str:
    return hashlib.sha256(credential.encode(errors="surrogateescape")).hexdigest()


def matches(credential: str, stored_digest: str) -> bool:
    return hmac.compare_digest(digest(credential), stored_digest)
