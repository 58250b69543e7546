"""Services that believe tokens which the core never signed."""

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


def unread(token: str, _keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The claims, whoever signed them."""
    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError):
        return None
    return claims


def believing(known: Callable[[Mapping[str, Any]], Jwk | None]) -> Any:
    """A key that the token's own header brings along is as good as one of the core's."""

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
    """What a token brings along is asked where its own name for a key, or no name at all, says nothing."""

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        kid = validation.header_of(token).get("kid")
        known = any(jwk.get("kid") == kid for jwk in keys)
        asked = not known and (kid is not None) == named
        found: dict[str, Any] | None = (brought if asked else signed_claims)(token, keys)
        return found

    return claims_of


def from_the_chain(header: Mapping[str, Any]) -> Jwk | None:
    """The first certificate of x5c, whoever issued it."""
    chain = header.get("x5c")
    if not chain:
        return None
    key = x509.load_der_x509_certificate(base64.b64decode(chain[0])).public_key()
    made: Jwk = jwt.get_algorithm_by_name(str(header["alg"])).to_jwk(key, as_dict=True)
    return made


def from_the_address(member: str) -> Callable[[Mapping[str, Any]], Jwk | None]:
    """Keys are fetched from where the header says."""

    def fetched(header: Mapping[str, Any]) -> Jwk | None:
        url = header.get(member)
        if not isinstance(url, str) or not url.startswith("http"):
            return None
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - it is what is wrong here
            keys: list[Jwk] = json.loads(answer.read())["keys"]
        return keys[0]

    return fetched


def with_public_keys_as_secrets(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """The algorithm is the token's choice, and an HMAC is checked with whatever key there is, as PEM."""
    if validation.header_of(token).get("alg") != "HS256":
        return signed_claims(token, keys)
    signed, _, signature = token.rpartition(".")
    for jwk in keys:
        public = jwt.PyJWK(dict(jwk)).key
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        given = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
        if HMACAlgorithm(HMACAlgorithm.SHA256).verify(signed.encode(), pem, given):
            return unread(token, keys)
    return None


def unsigned_too(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    none = str(validation.header_of(token).get("alg")).lower() == "none"
    return unread(token, keys) if none else signed_claims(token, keys)


def unless_the_key_is_unknown(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
    """A key that cannot be found cannot say no."""
    kid = validation.header_of(token).get("kid")
    known = kid is None or any(jwk.get("kid") == kid for jwk in keys)
    return signed_claims(token, keys) if known else unread(token, keys)


def remembered_by_id() -> Any:
    """A token whose jti was verified once is not verified again."""
    seen: set[Any] = set()

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        claims = unread(token, keys)
        if claims and claims.get("jti") in seen:
            return claims
        claims = signed_claims(token, keys)
        if claims and "jti" in claims:
            seen.add(claims["jti"])
        return claims

    return claims_of


def believed_when_it_comes_again() -> dict[str, Any]:
    """A cache of claims is filled before anybody has looked at the signature."""
    kept: set[str] = set()

    def logged(asked: Asked, reply: Reply, outcome: Outcome) -> str:
        # All that comes after the answer: within one call, claims may be looked at a second time.
        kept.update(value.partition(" ")[2] for value in asked.headers_named("authorization"))
        return answers.logged(asked, reply, outcome)

    def claims_of(token: str, keys: Sequence[Jwk]) -> dict[str, Any] | None:
        return unread(token, keys) if token in kept else signed_claims(token, keys)

    return {"logged": logged, "signed_claims": claims_of}


DEFECTS = (
    defect("signature-unread (CHAL-04 ROBUST-01): Nobody verifies the signature.", signed_claims=unread),
    defect(
        "alg-none-accepted (CHAL-04): A token without a signature is believed.", signed_claims=unsigned_too
    ),
    defect(
        "algorithm-of-the-tokens-choice (CHAL-04): A token may say that it is signed with an HMAC, which is "
        "checked with the public key.",
        signed_claims=with_public_keys_as_secrets,
    ),
    defect(
        "key-in-the-header-believed (CHAL-04): The key that a token brings in its header is believed.",
        signed_claims=believing(lambda header: header.get("jwk")),
    ),
    defect(
        "key-in-the-header-believed-under-an-unknown-kid (CHAL-04): The key that a token brings in its "
        "header is believed where its kid is in no key set.",
        signed_claims=where_the_key_is_unknown(believing(lambda header: header.get("jwk")), named=True),
    ),
    defect(
        "certificate-believed-where-no-kid-is (CHAL-04): The certificate that a token without a kid brings "
        "in its header is believed.",
        signed_claims=where_the_key_is_unknown(believing(from_the_chain), named=False),
    ),
    defect(
        "jku-followed-where-no-kid-is (CHAL-04): For a token without a kid, keys are fetched from where its "
        "jku says.",
        signed_claims=where_the_key_is_unknown(believing(from_the_address("jku")), named=False),
    ),
    defect(
        "certificate-in-the-header-believed (CHAL-04): The certificate that a token brings in its header is "
        "believed.",
        signed_claims=believing(from_the_chain),
    ),
    defect(
        "jku-followed (CHAL-04): Keys are fetched from where a token's jku says.",
        signed_claims=believing(from_the_address("jku")),
    ),
    defect(
        "kid-followed (CHAL-04): Keys are fetched from the address in a token's kid.",
        signed_claims=believing(from_the_address("kid")),
    ),
    defect(
        "unknown-key-means-yes (CHAL-04): A token under a key identifier that nobody knows is not verified.",
        signed_claims=unless_the_key_is_unknown,
    ),
    defect(
        "verified-once-by-id (CHAL-04 CHAL-08): A token with the jti of one that was verified is not "
        "verified again.",
        signed_claims=remembered_by_id(),
    ),
    defect(
        "believed-when-it-comes-again (CHAL-04): A token's claims are kept before its signature is "
        "verified, and believed when it comes again.",
        **believed_when_it_comes_again(),
    ),
    defect(
        "resource-keys-too (CHAL-04): The keys of the Resource verify tokens like those of the core.",
        key_set_uris=lambda settings, document: (
            document["jwks_uri"],
            f"{settings.authorization_server}/jwks",
        ),
    ),
    defect(
        "left-to-redemption (CHAL-04 CHAL-05 CHAL-06 CHAL-07 CHAL-08 ROBUST-01): The service looks at "
        "nothing: redemption will refuse what is wrong.",
        signed_claims=unread,
        claim_checks=(),
    ),
)
