"""A value that comes from a guessable seed is found, however it was drawn; a random value is none."""

from __future__ import annotations

import secrets
import string
from base64 import urlsafe_b64encode
from collections.abc import Callable
from random import Random

import pytest

from gateproof.conformance.kit.agent.seeds import seeded_among

_LETTERS = string.ascii_letters + string.digits
DRAWN: dict[str, Callable[[Random], str]] = {
    "octets in base64url": lambda drawn: urlsafe_b64encode(drawn.randbytes(32)).decode().rstrip("="),
    "octets in hexadecimal": lambda drawn: drawn.randbytes(16).hex(),
    "one large number": lambda drawn: f"{drawn.getrandbits(128):032x}",
    "letters": lambda drawn: "".join(drawn.choices(_LETTERS, k=43)),
    "one letter after another": lambda drawn: "".join(drawn.choice(_LETTERS) for _ in range(64)),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("before", [0, 1])
def test_value_of_a_seed_is_found(draw: Callable[[Random], str], before: int) -> None:
    generator = Random(4711)
    value = [draw(generator) for _ in range(before + 1)][-1]

    assert seeded_among([secrets.token_urlsafe(32), value], range(4700, 4720)) == {value: 4711}
    assert seeded_among([value], range(4700, 4711)) == {}


def test_random_value_comes_from_no_seed() -> None:
    values = [secrets.token_urlsafe(32), secrets.token_hex(16), "", "short"]

    assert seeded_among(values, range(200)) == {}
