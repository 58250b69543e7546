"""Signed JWTs are those of PyJWT."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from gateproof.doubles.compact_jws import is_signed_with, parsed_jwt, signed_jwt

CLAIMS = {"iss": "https://double.test", "exp": 2_000_000_000, "name": "Zoë \ud83d", "aud": ["a", "b"]}


@pytest.fixture(scope="module")
def keys() -> dict[str, Any]:
    rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return {
        "RS256": rsa_key,
        "PS256": rsa_key,
        "ES256": ec.generate_private_key(ec.SECP256R1()),
        "ES384": ec.generate_private_key(ec.SECP384R1()),
        "EdDSA": ed25519.Ed25519PrivateKey.generate(),
    }


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "ES384", "EdDSA"])
@pytest.mark.parametrize("headers", [{"kid": "k/1"}, {"kid": "k 2", "typ": "at+jwt"}])
def test_the_octets_are_those_of_pyjwt(keys: dict[str, Any], algorithm: str, headers: dict[str, str]) -> None:
    key = keys[algorithm]
    ours = signed_jwt(CLAIMS, key, algorithm, **headers)
    theirs = jwt.encode(CLAIMS, key, algorithm, headers=headers)
    # The signatures of the others contain random numbers.
    compared = 3 if algorithm in ("RS256", "EdDSA") else 2
    assert ours.split(".")[:compared] == theirs.split(".")[:compared]
    read = jwt.decode(ours, key.public_key(), [algorithm], audience="a")
    assert read == CLAIMS


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "ES384", "EdDSA"])
def test_a_signature_is_of_its_key_and_algorithm(keys: dict[str, Any], algorithm: str) -> None:
    parsed = parsed_jwt(jwt.encode(CLAIMS, keys[algorithm], algorithm, headers={"kid": "k"}))
    assert parsed is not None
    assert (parsed.header["kid"], parsed.claims) == ("k", CLAIMS)
    assert is_signed_with(parsed, keys[algorithm].public_key(), algorithm)
    other = {"RS256": "PS256", "PS256": "RS256"}.get(algorithm, "none")
    assert not is_signed_with(parsed, keys[algorithm].public_key(), other)
    for changed in (replace(parsed, signed=parsed.signed + b"x"), replace(parsed, signature=b"")):
        assert not is_signed_with(changed, keys[algorithm].public_key(), algorithm)


def encoded(document: Any) -> str:
    return urlsafe_b64encode(json.dumps(document).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b",
        f"{encoded({})}.{encoded({})}",
        f"{encoded({})}.{encoded({})}.AA.AA",
        f"{encoded([])}.{encoded({})}.AA",
        f"{encoded({})}.{encoded([])}.AA",
        f"{encoded({'kid': 1})}.{encoded({})}.AA",
        f"{encoded({'crit': ['b64']})}.{encoded({})}.AA",
        f"{encoded({'b64': False})}.{encoded({})}.AA",
        # Another spelling of the same octets, other alphabets, and a space.
        f"{encoded({})}.{encoded({})}.AB",
        f"{encoded({})}.{encoded({})}.+/+/",
        f"{encoded({})}.{encoded({})}.AA AA",
        f"{encoded({})}.{encoded({})}.\u00e9AAA",
        f"{encoded({})}.{'W1' * 3}.AA",
    ],
)
def test_what_is_no_jwt_is_refused(token: str) -> None:
    assert parsed_jwt(token) is None
    assert parsed_jwt(token, may_be_padded=True) is None


def test_padding_has_to_be_allowed() -> None:
    token = f"{encoded({})}.{encoded({})}.AA=="
    assert parsed_jwt(token) is None
    assert parsed_jwt(token, may_be_padded=True) is not None
