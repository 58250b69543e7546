"""Services that accept tokens that the core did not sign."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import HMACAlgorithm

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import answers, validation
from gateproof.reference.service.policy.validation import Jwk, signed_claims
from gateproof.reference.service.wire import Asked, Outcome, Reply


def unverified_claims(token: str, _keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The claims, without signature verification."""
    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    return claims


def trusting(known: Callable[[Mapping[str, Any]], Jwk | None]) -> Any:
    """A key from the token's own header is accepted like a key of the core."""

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        header = validation.header_of(token)
        try:
            brought = known(header)
        except (ValueError, TypeError, KeyError, OSError, NotImplementedError):
            brought = None
        algorithm = str(header.get("alg"))
        return (validation.verified(token, brought, algorithm) if brought else None) or signed_claims(
            token, keys
        )

    return claims_of


def where_the_key_is_unknown(brought: Any, *, named: bool) -> Any:
    """`brought` is used only if the token's kid is unknown (`named`), or missing (not `named`)."""

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        kid = validation.header_of(token).get("kid")
        known = any(jwk.get("kid") == kid for jwk in keys)
        asked = not known and (kid is not None) == named
        found: dict[str, Any] | None = (brought if asked else signed_claims)(token, keys)
        return found

    return claims_of


def from_the_chain(header: Mapping[str, Any]) -> Jwk | None:
    """The key of the first certificate in x5c, whoever issued it."""
    chain = header.get("x5c")
    if not chain:
        return None
    key = x509.load_der_x509_certificate(base64.b64decode(chain[0])).public_key()
    made: Jwk = jwt.get_algorithm_by_name(str(header["alg"])).to_jwk(key, as_dict=True)
    return made


def from_the_address(member: str) -> Callable[[Mapping[str, Any]], Jwk | None]:
    """A key is fetched from the URL in this member of the header."""

    def fetched(header: Mapping[str, Any]) -> Jwk | None:
        url = header.get(member)
        if not isinstance(url, str) or not url.startswith("http"):
            return None
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - it is what is wrong here
            keys: list[Jwk] = json.loads(answer.read())["keys"]
        return keys[0]

    return fetched


def with_public_keys_as_secrets(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """For HS256, the HMAC is verified with the public key in PEM as the secret."""
    if validation.header_of(token).get("alg") != "HS256":
        return signed_claims(token, keys)
    signed, _, signature = token.rpartition(".")
    for jwk in keys:
        public = jwt.PyJWK(dict(jwk)).key
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        given = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
        if HMACAlgorithm(HMACAlgorithm.SHA256).verify(signed.encode(), pem, given):
            return unverified_claims(token, keys)
    return None


def accepting_alg_none(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    none = str(validation.header_of(token).get("alg")).lower() == "none"
    return unverified_claims(token, keys) if none else signed_claims(token, keys)


def unless_the_key_is_unknown(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The signature is not verified if the kid is unknown."""
    kid = validation.header_of(token).get("kid")
    known = kid is None or any(jwk.get("kid") == kid for jwk in keys)
    return signed_claims(token, keys) if known else unverified_claims(token, keys)


def remembered_by_id() -> Any:
    """A token whose jti was verified once is not verified again."""
    seen: set[Any] = set()

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        claims = unverified_claims(token, keys)
        if claims and claims.get("jti") in seen:
            return claims
        claims = signed_claims(token, keys)
        if claims and "jti" in claims:
            seen.add(claims["jti"])
        return claims

    return claims_of


def unverified_when_repeated() -> dict[str, Any]:
    """A cache of tokens is filled before the signature is verified."""
    kept: set[str] = set()

    def logged(asked: Asked, reply: Reply, outcome: Outcome) -> str:
        # The cache is filled after the answer, because one call may verify its token twice.
        kept.update(value.partition(" ")[2] for value in asked.headers_named("authorization"))
        return answers.logged(asked, reply, outcome)

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        return unverified_claims(token, keys) if token in kept else signed_claims(token, keys)

    return {"logged": logged, "signed_claims": claims_of}


DEFECTS = (
    defect(
        "signature-unread (CHAL-04 ROBUST-01): The service does not verify the signature.",
        signed_claims=unverified_claims,
    ),
    defect(
        "alg-none-accepted (CHAL-04): The service accepts a token with the alg none, without a signature.",
        signed_claims=accepting_alg_none,
    ),
    defect(
        "algorithm-of-the-tokens-choice (CHAL-04): The service accepts a token with HS256 and verifies its "
        "HMAC with the public key.",
        signed_claims=with_public_keys_as_secrets,
    ),
    defect(
        "key-in-the-header-believed (CHAL-04): The service verifies a token with the key (jwk) in the "
        "token's own header.",
        signed_claims=trusting(lambda header: header.get("jwk")),
    ),
    defect(
        "key-in-the-header-believed-under-an-unknown-kid (CHAL-04): The service verifies a token with the "
        "key (jwk) in the token's own header if the kid is in no key set.",
        signed_claims=where_the_key_is_unknown(trusting(lambda header: header.get("jwk")), named=True),
    ),
    defect(
        "certificate-believed-where-no-kid-is (CHAL-04): The service verifies a token without a kid with the "
        "certificate (x5c) in the token's own header.",
        signed_claims=where_the_key_is_unknown(trusting(from_the_chain), named=False),
    ),
    defect(
        "jku-followed-where-no-kid-is (CHAL-04): For a token without a kid, the service fetches the key from "
        "the URL in jku.",
        signed_claims=where_the_key_is_unknown(trusting(from_the_address("jku")), named=False),
    ),
    defect(
        "certificate-in-the-header-believed (CHAL-04): The service verifies a token with the certificate "
        "(x5c) in the token's own header.",
        signed_claims=trusting(from_the_chain),
    ),
    defect(
        "jku-followed (CHAL-04): The service fetches the key from the URL in the token's jku.",
        signed_claims=trusting(from_the_address("jku")),
    ),
    defect(
        "kid-followed (CHAL-04): The service fetches the key from the URL in the token's kid.",
        signed_claims=trusting(from_the_address("kid")),
    ),
    defect(
        "unknown-key-means-yes (CHAL-04): The service does not verify a token with an unknown kid.",
        signed_claims=unless_the_key_is_unknown,
    ),
    defect(
        "verified-once-by-id (CHAL-04 CHAL-08): The service does not verify a token that has the jti of a "
        "verified one.",
        signed_claims=remembered_by_id(),
    ),
    defect(
        "believed-when-it-comes-again (CHAL-04): The service caches a token before it verifies the "
        "signature, and does not verify it the next time.",
        **unverified_when_repeated(),
    ),
    defect(
        "resource-keys-too (CHAL-04): The service verifies tokens with the Resource's keys as well as the "
        "core's.",
        key_set_uris=lambda settings, document: (
            document["jwks_uri"],
            f"{settings.authorization_server}/jwks",
        ),
    ),
    defect(
        "left-to-redemption (CHAL-04 CHAL-05 CHAL-06 CHAL-07 CHAL-08 ROBUST-01): The service checks neither "
        "signature nor claims, and relies on redemption to refuse bad tokens.",
        signed_claims=unverified_claims,
        claim_checks=(),
    ),
)
