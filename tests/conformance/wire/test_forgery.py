"""A forged token has the one thing wrong that its forgery is about."""

from __future__ import annotations

import base64
import json

import pytest

from gateproof.conformance.wire.forgery import FORGERIES, original

# As some write it: with spaces, and the members in an order of their own.
HEADER = '{"typ": "at+jwt", "kid": "key-1", "alg": "ES256"}'
KEY = {"kty": "EC", "crv": "P-256", "kid": "key-1", "x": "AA", "y": "AA"}


def segment(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


GOOD = ".".join(
    segment(part) for part in (HEADER.encode(), json.dumps({"sub": "sub_1"}).encode(), bytes(range(64)))
)


@pytest.mark.parametrize(
    "name", ["signature-stripped", "first-octet-of-the-signature", "half-a-signature", "signature-twice"]
)
def test_what_is_signed_stays_to_the_letter_where_the_signature_alone_is_wrong(name: str) -> None:
    forged = FORGERIES[name](original(GOOD, KEY))

    assert forged is not None
    assert forged.split(".")[:2] == GOOD.split(".")[:2]
    assert forged != GOOD


def test_header_stays_to_the_letter_where_the_claims_alone_are_wrong() -> None:
    forged = FORGERIES["another-user"](original(GOOD, KEY))

    assert forged is not None
    (head, payload, signature), good = forged.split("."), GOOD.split(".")
    assert (head, signature) == (good[0], good[2])
    assert payload != good[1]


def test_header_that_is_changed_says_everything_else_as_before() -> None:
    forged = FORGERIES["alg-none"](original(GOOD, KEY))

    assert forged is not None
    head = forged.split(".")[0]
    header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    assert header == json.loads(HEADER) | {"alg": "none"}
