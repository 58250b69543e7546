"""Gateways whose published keys have wrong members, or whose ID tokens do not name their key."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.keys import KeyRing, SigningKey
from gateproof.reference.gateway.policy import key_sets, token_claims
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject


def under_rs256(ids: Ids) -> SigningKey:
    private = rsa.generate_private_key(65537, 2048)
    return SigningKey(kid=ids.identifier("key_"), private=private, algorithm="RS256")


def with_a_sign_octet(key: SigningKey) -> JsonObject:
    """Encodes the modulus as some libraries do for a positive number: with a leading zero octet."""
    honest = key_sets.public_jwk(key)
    if honest["kty"] != "RSA":
        return honest
    octets = urlsafe_b64decode(honest["n"] + "==")
    return honest | {"n": urlsafe_b64encode(b"\0" + octets).rstrip(b"=").decode()}


def id_tokens_without_a_kid() -> dict[str, Any]:
    signing: list[SigningKey] = []

    def key(core: KeyRing, own: SigningKey) -> SigningKey:
        signing[:] = [key_sets.id_token_key(core, own)]
        return signing[0]

    def answer(facts: TokenFacts, tokens: Tokens) -> JsonObject:
        claims, own = token_claims.id_token_claims(facts), signing[0]
        bare = jwt.encode(claims, own.private, own.algorithm, headers={"typ": token_claims.ID_TOKEN_TYPE})
        return token_claims.token_answer(facts, tokens) | {"id_token": bare}

    return {"id_token_key": key, "token_answer": answer}


DEFECTS = (
    defect(
        "rsa-modulus-with-a-sign-octet (KEYS-05): The modulus of a core key has a leading zero octet.",
        new_core_key=under_rs256,
        core_jwk=with_a_sign_octet,
    ),
    defect(
        "core-key-for-encryption (KEYS-03): The core keys have `use` set to enc.",
        core_jwk=lambda key: key_sets.public_jwk(key) | {"use": "enc"},
    ),
    defect(
        "core-key-of-another-algorithm (KEYS-03): The `alg` of the core keys is not their algorithm.",
        core_jwk=lambda key: key_sets.public_jwk(key) | {"alg": "RS256"},
    ),
    defect(
        "id-tokens-without-a-kid (KEYS-03): ID tokens have no `kid`.",
        **id_tokens_without_a_kid(),
    ),
)
