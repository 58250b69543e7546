"""Values of Java's generator are found by three of its words, whatever its seed; random values are none."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable

import pytest

from gateproof.conformance.kit.agent.linear_generator import linear_among
from gateproof.reference.defects.agent.predictable_values import Linear

ENCODINGS: dict[str, Callable[[bytes], str]] = {
    "base64url": lambda octets: urlsafe_b64encode(octets).decode().rstrip("="),
    "hexadecimal": bytes.hex,
}


def test_generator_draws_what_java_draws() -> None:
    """`nextBytes` of `new Random(42)`: its first two `nextInt`, each with the low byte first."""
    words = [-1170105035, 234785527]

    assert Linear(42).octets(8) == b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in words)


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS)
@pytest.mark.parametrize("before", [0, 32])
def test_value_of_the_generator_is_found(encode: Callable[[bytes], str], before: int) -> None:
    generator = Linear(secrets.randbits(48))
    generator.octets(before)
    value = encode(generator.octets(32))

    assert linear_among([secrets.token_urlsafe(32), value]) == {value}


def test_random_value_is_none() -> None:
    assert linear_among([secrets.token_urlsafe(32), secrets.token_hex(32), "", "short"]) == set()
