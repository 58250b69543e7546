"""Tokens are read without being believed, and verified by public keys alone."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from gateproof.conformance.wire.jose import is_compact, keys_of, read, verifying

EC_KEY = ec.generate_private_key(ec.SECP256R1())
P384_KEY = ec.generate_private_key(ec.SECP384R1())
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ED_KEY = ed25519.Ed25519PrivateKey.generate()
SIGNERS: dict[str, tuple[Any, dict[str, Any]]] = {
    "ES256": (EC_KEY, ECAlgorithm.to_jwk(EC_KEY.public_key(), as_dict=True)),
    "ES384": (P384_KEY, ECAlgorithm.to_jwk(P384_KEY.public_key(), as_dict=True)),
    "RS256": (RSA_KEY, RSAAlgorithm.to_jwk(RSA_KEY.public_key(), as_dict=True)),
    "PS256": (RSA_KEY, RSAAlgorithm.to_jwk(RSA_KEY.public_key(), as_dict=True)),
    "EdDSA": (ED_KEY, OKPAlgorithm.to_jwk(ED_KEY.public_key(), as_dict=True)),
}


@pytest.mark.parametrize("algorithm", SIGNERS)
def test_every_usual_signature_verifies_with_its_own_key_only(algorithm: str) -> None:
    key, jwk = SIGNERS[algorithm]
    token = jwt.encode({"sub": "sub_1"}, key, algorithm=algorithm)
    others = [
        other for name, (_, other) in SIGNERS.items() if other is not jwk and other["kty"] != jwk["kty"]
    ]

    assert verifying(token, [*others, jwk]) == [jwk]
    assert verifying(token[:-4] + "AAAA", [jwk]) == []


def test_fully_specified_algorithm_name_is_known() -> None:
    key, jwk = SIGNERS["EdDSA"]
    parts = [b64(json.dumps(part).encode()) for part in ({"alg": "Ed25519"}, {"sub": "sub_1"})]
    token = ".".join([*parts, b64(key.sign(".".join(parts).encode()))])
    assert verifying(token, [jwk]) == [jwk]


def b64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


@pytest.mark.parametrize("extra", [{"alg": "RS256"}, {"use": "enc"}, {"kid": "another"}, {"key_ops": []}])
def test_what_a_key_says_of_itself_does_not_hide_that_it_verifies(extra: dict[str, Any]) -> None:
    key, jwk = SIGNERS["ES256"]
    assert verifying(jwt.encode({}, key, algorithm="ES256"), [jwk | extra]) == [jwk | extra]


@pytest.mark.parametrize(
    "key",
    [
        {},
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"},
        {"kty": "EC", "crv": "P-256", "x": "not base64 !", "y": 3},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        {"kty": ["EC"]},
    ],
)
def test_keys_that_cannot_verify_do_no_harm(key: dict[str, Any]) -> None:
    for algorithm, (signer, _) in SIGNERS.items():
        assert verifying(jwt.encode({}, signer, algorithm=algorithm), [key]) == []


def test_shared_secret_verifies_nothing() -> None:
    token = jwt.encode({}, "a-secret-of-thirty-two-characters!", algorithm="HS256")
    assert verifying(token, [{"kty": "oct", "k": "YS1zZWNyZXQtb2YtdGhpcnR5LXR3by1jaGFyYWN0ZXJzIQ"}]) == []


@pytest.mark.parametrize(
    "text", ["", "a.b.c", "....", "e30.e30.", "a" * 50, "eyJhbGciOiJFUzI1NiJ9.W10.x", "é.é.é"]
)
def test_what_is_no_jwt_is_read_as_none(text: str) -> None:
    assert read(text) is None


def test_key_set_of_any_shape_is_read() -> None:
    assert keys_of({"keys": [{"kty": "EC"}, "x", None]}) == [{"kty": "EC"}]
    for document in (None, [], {}, {"keys": {}}, {"keys": None}, json.loads("3")):
        assert keys_of(document) == []


@pytest.mark.parametrize(
    "text", ["e30=.e30=.YQ==", "e30.e30.a+b", "e30.e30", "e30.e30.", " e30.e30.YQ", "e30.e30.\u0661"]
)
def test_other_forms_of_a_jwt_are_not_compact(text: str) -> None:
    assert is_compact("e30.e30.YQ")
    assert not is_compact(text)
