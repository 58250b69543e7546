"""Forged tokens, each made from a valid one with one defect.

The harness has no key of the gateway. Without one it can forge the header, the signature, and claims under a
signature made for others.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.x509.oid import NameOID

PrivateKey = (
    rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey
)
_HASHES = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}
_CURVES: dict[str, Callable[[], ec.EllipticCurve]] = {
    "ES256": ec.SECP256R1,
    "ES384": ec.SECP384R1,
    "ES512": ec.SECP521R1,
    "ES256K": ec.SECP256K1,
}
_EDWARDS = frozenset({"EdDSA", "Ed25519", "Ed448"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Original:
    """The parts of a valid token, the public key that verifies it, and the URL of a forger's keys."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    head: str
    payload: str
    signature: bytes
    key: Mapping[str, Any]
    resource_kid: str | None = None
    decoy_url: str = "http://127.0.0.1:9"

    def headed(self, payload: str | None = None, /, **changes: Any) -> str:
        """Header and payload with these header members changed; None removes one.

        Without changes the header stays as it is: encoding it again could change it.
        """
        header = {name: value for name, value in {**self.header, **changes}.items() if value is not None}
        head = _segment(header) if changes else self.head
        return f"{head}.{self.payload if payload is None else payload}"

    @property
    def signed_part(self) -> str:
        return self.headed()

    @property
    def algorithm(self) -> str:
        return str(self.header["alg"])


Forgery = Callable[[Original], str | None]


def original(token: str, key: Mapping[str, Any], **more: Any) -> Original:
    """The parts of a valid token."""
    head, payload, signature = token.split(".")
    return Original(
        header=json.loads(_octets(head)),
        claims=json.loads(_octets(payload)),
        head=head,
        payload=payload,
        signature=_octets(signature),
        key=key,
        **more,
    )


def unsigned(algorithm: str) -> Forgery:
    """A token whose header says that it is unsigned."""
    return lambda good: good.headed(alg=algorithm) + "."


def resigned(change: Callable[[bytes], bytes]) -> Forgery:
    """The same token with a changed signature."""
    return lambda good: f"{good.signed_part}.{_text(change(good.signature))}"


def claiming(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Forgery:
    """Other claims with the signature of the valid token."""

    def forge(good: Original) -> str:
        payload = _segment(change(dict(good.claims)))
        return f"{good.headed(payload)}.{_text(good.signature)}"

    return forge


def keyed(algorithm: str, secret: Callable[[Original], bytes | None], **header: Any) -> Forgery:
    """A token with an HMAC whose key is public data."""

    def forge(good: Original) -> str | None:
        known = secret(good)
        if known is None:
            return None
        signed = good.headed(alg=algorithm, **header)
        return f"{signed}.{_text(hmac.new(known, signed.encode(), _HASHES[algorithm]).digest())}"

    return forge


def foreign(header: Callable[[Original], dict[str, Any]]) -> Forgery:
    """A valid signature of the same algorithm, by the forger's own key."""

    def forge(good: Original) -> str:
        signed = good.headed(**header(good))
        return f"{signed}.{_text(_sign(good.algorithm, signed.encode()))}"

    return forge


def own_jwk(algorithm: str, **more: Any) -> dict[str, Any]:
    """The forger's public key."""
    made: Any = _method(algorithm).to_jwk(_own_key(algorithm).public_key(), as_dict=True)
    return {**made, **more}


@cache
def own_certificate(algorithm: str) -> bytes:
    """A self-signed certificate for the forger's key, in DER."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gateway.example")])
    key, now = _own_key(algorithm), datetime.datetime.now(datetime.UTC)
    hashed = None if algorithm in _EDWARDS else hashes.SHA256()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=3650))
        .sign(key, hashed)
    )
    return certificate.public_bytes(serialization.Encoding.DER)


def _public_bytes(
    encoding: serialization.Encoding, form: serialization.PublicFormat
) -> Callable[[Original], bytes]:
    def of(good: Original) -> bytes:
        public = jwt.PyJWK(_public(good.key), algorithm=_family(good.algorithm)).key
        return bytes(public.public_bytes(encoding, form))

    return of


_PEM = _public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
_DER = _public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
_PKCS1 = _public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.PKCS1)


def _coordinate(good: Original) -> bytes:
    return _octets(str(good.key.get("n") or good.key.get("x")))


def _compact(good: Original) -> bytes:
    return json.dumps(dict(good.key), separators=(",", ":")).encode()


def _spaced(good: Original) -> bytes:
    return json.dumps(dict(good.key)).encode()


def _kid(good: Original) -> bytes | None:
    kid = good.header.get("kid")
    return kid.encode() if isinstance(kid, str) and kid else None


def _x5c(good: Original) -> dict[str, Any]:
    return {"x5c": [base64.b64encode(own_certificate(good.algorithm)).decode()]}


def _jwks_url_with_kid(good: Original) -> str:
    """The URL of a key set in which the forger's key has the valid key's `kid`."""
    return f"{good.decoy_url}/jwks?kid={quote(str(good.header.get('kid', '')), safe='')}"


def _flipped(place: int) -> Callable[[bytes], bytes]:
    def change(signature: bytes) -> bytes:
        octets = bytearray(signature)
        octets[place] ^= 0x01
        return bytes(octets)

    return change


def _elsewhere(claims: dict[str, Any]) -> dict[str, Any]:
    ext = claims.get("ext")
    return {**claims, "ext": {**(ext if isinstance(ext, dict) else {}), "project_id": "prj_elsewhere"}}


FORGERIES: Mapping[str, Forgery] = {
    **{f"alg-{name}": unsigned(name) for name in ("none", "None", "NONE", "nOnE")},
    "alg-none-in-two-parts": lambda good: good.headed(alg="none"),
    "alg-none-keeping-the-signature": lambda good: f"{good.headed(alg='none')}.{_text(good.signature)}",
    "no-alg": lambda good: good.headed(alg=None) + ".",
    "empty-alg": unsigned(""),
    "signature-stripped": lambda good: good.signed_part + ".",
    "two-parts": lambda good: good.signed_part,
    "four-parts": lambda good: f"{good.signed_part}.{_text(good.signature)}.{_text(good.signature)}",
    "first-octet-of-the-signature": resigned(_flipped(0)),
    "last-octet-of-the-signature": resigned(_flipped(-1)),
    "half-a-signature": resigned(lambda signature: signature[: len(signature) // 2]),
    "signature-and-more": resigned(lambda signature: signature + b"\0"),
    "signature-twice": resigned(lambda signature: signature * 2),
    "signature-of-zeros": resigned(lambda signature: bytes(len(signature))),
    "another-user": claiming(lambda claims: {**claims, "sub": "sub_somebody_else"}),
    "another-project": claiming(_elsewhere),
    "longer-life": claiming(lambda claims: {**claims, "exp": 4_102_444_800}),
    "one-more-claim": claiming(lambda claims: {**claims, "admin": True}),
    "hs256-by-pem": keyed("HS256", _PEM),
    "hs256-by-pem-without-its-last-line-end": keyed("HS256", lambda good: _PEM(good).strip()),
    "hs256-by-pkcs1-pem": keyed("HS256", lambda good: _PKCS1(good) if good.key["kty"] == "RSA" else None),
    "hs256-by-der": keyed("HS256", _DER),
    "hs256-by-jwk": keyed("HS256", _compact),
    "hs256-by-jwk-with-spaces": keyed("HS256", _spaced),
    "hs256-by-coordinate": keyed("HS256", _coordinate),
    "hs256-by-coordinate-as-text": keyed("HS256", lambda good: _text(_coordinate(good)).encode()),
    "hs256-by-kid": keyed("HS256", _kid),
    "hs256-by-nothing": keyed("HS256", lambda _: b""),
    "hs384-by-pem": keyed("HS384", _PEM),
    "hs512-by-pem": keyed("HS512", _PEM),
    "foreign-key": foreign(lambda _: {}),
    "foreign-key-without-kid": foreign(lambda _: {"kid": None}),
    "foreign-key-with-a-kid-of-its-own": foreign(lambda _: {"kid": "forger"}),
    "foreign-key-with-the-resources-kid": foreign(lambda good: {"kid": good.resource_kid}),
    "foreign-key-and-a-critical-header": foreign(lambda _: {"crit": ["trust"], "trust": True}),
    "embedded-jwk": foreign(lambda good: {"jwk": own_jwk(good.algorithm), "kid": None}),
    "embedded-jwk-under-the-kid": foreign(
        lambda good: {"jwk": own_jwk(good.algorithm, kid=good.header.get("kid"))}
    ),
    "embedded-jwk-under-a-kid-of-its-own": foreign(
        lambda good: {"jwk": own_jwk(good.algorithm, kid="forger"), "kid": "forger"}
    ),
    "x5c": foreign(_x5c),
    "x5c-without-kid": foreign(lambda good: {**_x5c(good), "kid": None}),
    "x5c-under-a-kid-of-its-own": foreign(lambda good: {**_x5c(good), "kid": "forger"}),
    "kid-of-an-empty-file": keyed("HS256", lambda _: b"", kid="../../../../../../dev/null"),
    "kid-of-a-file": keyed("HS256", lambda _: b"\n", kid="/proc/sys/kernel/core_uses_pid"),
    "kid-as-sql": keyed("HS256", lambda _: b"forged", kid="x' UNION SELECT 'forged' -- "),
    "kid-empty": foreign(lambda _: {"kid": ""}),
}

# These refer to a URL of the forger, where the matching key is served.
KEY_URL_FORGERIES: Mapping[str, Forgery] = {
    "jku": foreign(lambda good: {"jku": f"{good.decoy_url}/jwks", "kid": "forger"}),
    "jku-under-the-kid": foreign(lambda good: {"jku": _jwks_url_with_kid(good)}),
    "jku-without-kid": foreign(lambda good: {"jku": f"{good.decoy_url}/jwks", "kid": None}),
    "x5u": foreign(lambda good: {"x5u": f"{good.decoy_url}/x5u", "kid": "forger"}),
    "x5u-under-the-kid": foreign(lambda good: {"x5u": f"{good.decoy_url}/x5u"}),
    "x5u-without-kid": foreign(lambda good: {"x5u": f"{good.decoy_url}/x5u", "kid": None}),
    "kid-as-url": foreign(lambda good: {"kid": f"{good.decoy_url}/jwks"}),
}


def _sign(algorithm: str, signed: bytes) -> bytes:
    return bytes(_method(algorithm).sign(signed, _own_key(algorithm)))


def _family(algorithm: str) -> str:
    return "EdDSA" if algorithm in _EDWARDS else algorithm


def _method(algorithm: str) -> Any:
    return jwt.get_algorithm_by_name(_family(algorithm))


@cache
def _own_key(algorithm: str) -> PrivateKey:
    if algorithm in _CURVES:
        return ec.generate_private_key(_CURVES[algorithm]())
    if algorithm == "Ed448":
        return ed448.Ed448PrivateKey.generate()
    if algorithm in _EDWARDS:
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _public(key: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in key.items() if name in {"kty", "n", "e", "crv", "x", "y"}}


def _segment(document: Mapping[str, Any]) -> str:
    return _text(json.dumps(document, separators=(",", ":")).encode())


def _text(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode("ascii")


def _octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
