"""Client assertions (RFC 7523) of an agent: signed with its secret, or with a key that it registers."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_LIFE_S = 60


class AssertionKey:
    """A new key of an agent."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())

    def key_set(self) -> dict[str, Any]:
        """The public key as a key set, for the registration."""
        public = json.loads(ECAlgorithm.to_jwk(self._private.public_key()))
        return {"keys": [{**public, "kid": "agent", "alg": "ES256", "use": "sig"}]}

    def assertion(self, client_id: str, audience: str) -> str:
        return jwt.encode(_claims(client_id, audience), self._private, "ES256", headers={"kid": "agent"})


def by_secret(client_id: str, secret: str, audience: str) -> str:
    """An assertion signed with the client secret, as for client_secret_jwt."""
    return jwt.encode(_claims(client_id, audience), secret, "HS256")


def fields(assertion: str) -> list[tuple[str, str]]:
    """The form fields for an assertion."""
    return [("client_assertion_type", TYPE), ("client_assertion", assertion)]


def _claims(client_id: str, audience: str) -> dict[str, Any]:
    now = int(time.time())
    return {
        "iss": client_id,
        "sub": client_id,
        "aud": audience,
        "jti": secrets.token_urlsafe(16),
        "iat": now,
        "exp": now + _LIFE_S,
    }
