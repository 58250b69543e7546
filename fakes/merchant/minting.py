"""Creates secrets: random values in a form that the seed selects, and JWTs signed by the merchant."""

from __future__ import annotations

import base64
import json
import random
import secrets
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from gateproof.doubles.compact_jws import signed_jwt
from gateproof.fakes.merchant.shape import BASE64URL, Shape, choices

_OCTETS = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Signer:
    """The merchant's own keys: RSA for ID tokens (OpenID Connect's default), EC for access tokens."""

    rsa_key: rsa.RSAPrivateKey
    ec_key: ec.EllipticCurvePrivateKey
    rsa_kid: str
    ec_kid: str

    def id_token(self, claims: dict[str, Any]) -> str:
        return signed_jwt(claims, self.rsa_key, "RS256", kid=self.rsa_kid)

    def access_token(self, claims: dict[str, Any]) -> str:
        return signed_jwt(claims, self.ec_key, "ES256", kid=self.ec_kid, typ="at+jwt")

    def public_keys(self, shape: Shape) -> dict[str, Any]:
        """The merchant's JWK Set, in an order that the seed selects."""
        rsa_jwk = {**json.loads(RSAAlgorithm.to_jwk(self.rsa_key.public_key())), "alg": "RS256"}
        ec_jwk = {**json.loads(ECAlgorithm.to_jwk(self.ec_key.public_key())), "alg": "ES256"}
        keys = []
        for jwk, kid in ((rsa_jwk, self.rsa_kid), (ec_jwk, self.ec_kid)):
            jwk.pop("key_ops", None)
            keys.append(shape.ordered({**jwk, "kid": kid, "use": "sig"}))
        if choices(shape.seed, "key order").random() < 0.5:
            keys.reverse()
        return {"keys": keys}


@cache
def _of_this_process() -> str:
    """A part of key IDs: a gateway that kept earlier keys fetches others only for an unknown ID."""
    return secrets.token_hex(3)


def new_signer(seed: int, earlier: Signer | None = None) -> Signer:
    """New keys, or those of an earlier signer, with key IDs of this run in a form that the seed selects."""
    rng = choices(seed, "kid")
    return Signer(
        rsa_key=rsa.generate_private_key(public_exponent=65537, key_size=2048)
        if earlier is None
        else earlier.rsa_key,
        ec_key=ec.generate_private_key(ec.SECP256R1()) if earlier is None else earlier.ec_key,
        rsa_kid=f"m/{rng.randrange(10**6)}-{_of_this_process()}",
        ec_kid=f"{rng.randrange(10**6)}:at:{_of_this_process()}",
    )


class Minter:
    """Creates random values. Their form comes from the seed, their content from `entropy`."""

    def __init__(self, shape: Shape, *, entropy: random.Random) -> None:
        self._shape = shape
        self._entropy = entropy
        self._count: Counter[tuple[str, str, str]] = Counter()

    def opaque(self, kind: str, client_id: str, login: str, *, shortest: int = 0) -> str:
        self._count[kind, client_id, login] += 1
        form = self._shape.token_form(kind, client_id, login, self._count[kind, client_id, login])
        length = max(shortest, form.length)
        return self.random_text(length - form.padding, form.alphabet) + "=" * form.padding

    def random_text(self, length: int, alphabet: str = BASE64URL) -> str:
        characters, left_out = _table(alphabet)
        text = b""
        while len(text) < length:
            text += self._entropy.randbytes(length).translate(characters, left_out)
        return text[:length].decode("ascii")


@cache
def _table(alphabet: str) -> tuple[bytes, bytes]:
    """The character of each octet; the octets left out, so that all characters are equally likely."""
    used = _OCTETS - _OCTETS % len(alphabet)
    repeated = alphabet.encode("ascii") * (used // len(alphabet))
    return repeated.ljust(_OCTETS), bytes(range(used, _OCTETS))


def left_half_hash(algorithm_hash: bytes) -> str:
    """OpenID Connect's `at_hash`, from the hash of an access token."""
    return base64.urlsafe_b64encode(algorithm_hash[: len(algorithm_hash) // 2]).rstrip(b"=").decode()
