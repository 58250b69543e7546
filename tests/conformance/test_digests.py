"""A digest of what is known is found, however it is written; a random value is none."""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable

import pytest

from gateproof.conformance.kit.agent.digests import digests_among, readings_of

WRITTEN: dict[str, Callable[[bytes], str]] = {
    "hexadecimal": bytes.hex,
    "capitals": lambda octets: octets.hex().upper(),
    "base64url": lambda octets: urlsafe_b64encode(octets).decode().rstrip("="),
    "base64url of a part": lambda octets: urlsafe_b64encode(octets[:16]).decode().rstrip("="),
    "cut": lambda octets: octets.hex()[:22],
}


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
@pytest.mark.parametrize("write", WRITTEN.values(), ids=WRITTEN)
def test_digest_of_a_guess_is_found(write: Callable[[bytes], str], algorithm: str) -> None:
    value = write(hashlib.new(algorithm, b"4711").digest())
    guesses = [str(number).encode() for number in range(4700, 4720)]

    found = digests_among([secrets.token_urlsafe(32), value], guesses)
    assert {each: name.replace("-", "").lower() for each, name in found.items()} == {value: algorithm}
    assert digests_among([value], guesses[:11]) == {}


def test_digest_of_what_a_shell_prints_is_found() -> None:
    value = hashlib.md5(b"4711\n", usedforsecurity=False).hexdigest()

    assert digests_among([value], [b"4710", b"4711"]) == {value: "MD5"}


def test_values_that_are_no_octets_are_no_digests() -> None:
    assert digests_among(["", "short", "orders/list", "~" * 43], [b"", b"1"]) == {}


def test_digest_may_be_of_what_a_text_is_readings_of() -> None:
    octets = secrets.token_bytes(16)
    digest = hashlib.sha256(octets).hexdigest()

    for text in (octets.hex(), urlsafe_b64encode(octets).decode().rstrip("=")):
        assert digests_among([digest], readings_of(text)) == {digest: "SHA-256"}
    assert list(readings_of("no. octets")) == [b"no. octets"]
