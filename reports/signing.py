"""Ed25519 signatures in DSSE envelopes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gateproof.reports import chain
from gateproof.reports.variables import SIGN_KEY

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_EXPECTED = "expected an Ed25519 private key in PEM (PKCS #8) without a password"


class KeyProblem(ValueError):
    """A key cannot be used; the text says which and why, without content of the key."""


class BadEnvelope(ValueError):
    """An envelope is malformed, or not signed by this key; the text says which."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SigningKey:
    """A private key; an ephemeral key is made for one run and does not identify the signer."""

    private: Ed25519PrivateKey = field(repr=False)
    ephemeral: bool

    @property
    def public(self) -> Ed25519PublicKey:
        return self.private.public_key()


def signing_key(file: Path | None, environment: Mapping[str, str]) -> SigningKey:
    """The key from the file, else from the environment, else a new one for this run."""
    if file is not None:
        try:
            pem = file.read_bytes()
        except OSError as problem:
            raise KeyProblem(f"--sign-key {file}: {problem.strerror}; {_EXPECTED}") from None
        return SigningKey(private=_private(pem, f"--sign-key {file}"), ephemeral=False)
    if text := environment.get(SIGN_KEY, ""):
        return SigningKey(private=_private(text.encode(), SIGN_KEY), ephemeral=False)
    return SigningKey(private=Ed25519PrivateKey.generate(), ephemeral=True)


def public_key(pem: bytes, where: str) -> Ed25519PublicKey:
    """The public key in a PEM text."""
    expected = "expected an Ed25519 public key in PEM (SubjectPublicKeyInfo)"
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyProblem(f"{where}: found no public key; {expected}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyProblem(f"{where}: found a key of another algorithm; {expected}")
    return key


def public_pem(key: Ed25519PublicKey) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form)


def key_id(key: Ed25519PublicKey) -> str:
    """SHA-256 of the key's SubjectPublicKeyInfo in DER."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return hashlib.sha256(key.public_bytes(serialization.Encoding.DER, form)).hexdigest()


def pre_authentication(payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's encoding of payload type and payload."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def envelope(payload: bytes, key: SigningKey) -> bytes:
    """The payload in a signed envelope; the same key gives the same bytes."""
    return _envelope(payload, key_id(key.public), key.private.sign(pre_authentication(payload)))


def opened(raw: bytes, key: Ed25519PublicKey) -> bytes:
    """The payload of an envelope that this key signed and of which no byte was changed."""
    try:
        values = json.loads(raw)
        (signature,) = values["signatures"]
        payload = base64.b64decode(values["payload"], validate=True)
        signed = base64.b64decode(signature["sig"], validate=True)
        keyid = signature["keyid"]
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, RecursionError):
        raise BadEnvelope("is not a DSSE envelope with one signature") from None
    try:
        key.verify(signed, pre_authentication(payload))
    except InvalidSignature:
        if keyid != key_id(key):
            raise BadEnvelope("is signed by another key") from None
        raise BadEnvelope("has a signature that does not match its payload") from None
    if _envelope(payload, key_id(key), signed) != raw:
        raise BadEnvelope("was changed outside of the signed payload")
    return payload


def _private(pem: bytes, where: str) -> Ed25519PrivateKey:
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except TypeError:
        raise KeyProblem(f"{where}: found a key with a password; {_EXPECTED}") from None
    except (ValueError, UnsupportedAlgorithm):
        raise KeyProblem(f"{where}: found no private key; {_EXPECTED}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyProblem(f"{where}: found a key of another algorithm; {_EXPECTED}")
    return key


def _envelope(payload: bytes, keyid: str, signature: bytes) -> bytes:
    return chain.encode(
        {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": keyid, "sig": base64.b64encode(signature).decode()}],
        }
    )
