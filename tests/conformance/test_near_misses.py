"""A near miss differs from the right one in whatever way somebody decodes it."""

from __future__ import annotations

import base64
import binascii
import random
from contextlib import suppress

import pytest

from gateproof.conformance.kit.inputs.near_tokens import (
    changed,
    changed_at_the_end,
    cut_short,
    in_other_case,
    longer,
    twice,
    with_blank_before,
    with_blank_behind,
)

# The same tokens every time: their text names the tests, and every worker has to collect the same ones.
CHANCE = random.Random(1)
TOKENS = [
    form(CHANCE.randbytes(length))
    for length in range(8, 40)
    for form in (
        bytes.hex,
        lambda octets: base64.urlsafe_b64encode(octets).decode(),
        lambda octets: base64.urlsafe_b64encode(octets).rstrip(b"=").decode(),
    )
]
UUID = "8c2f7a10-5d3e-4b6a-9f01-2e3d4c5b6a79"


def octets(text: str) -> set[bytes]:
    """What lenient decoders make of a token: a lone last character, padding and case are nothing to them."""
    found = set()
    bare = text.rstrip("=")
    for length in (len(bare), len(bare) - 1):
        part = bare[:length]
        try:
            found.add(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
            break
        except binascii.Error:
            continue
    with suppress(binascii.Error):
        # Of what stands behind padding this one reads nothing.
        found.add(base64.urlsafe_b64decode(text))
    with suppress(ValueError):
        found.add(bytes.fromhex(bare[: len(bare) // 2 * 2]))
    return found


@pytest.mark.parametrize("token", TOKENS)
def test_near_miss_decodes_to_something_else(token: str) -> None:
    places = (0, len(token) // 2)
    misses = [changed_at_the_end(token), cut_short(token), longer(token), twice(token)]
    for miss in (*misses, *(changed(token, place) for place in places)):
        assert not octets(miss) & octets(token)


def test_case_that_may_mean_nothing_is_left_alone() -> None:
    assert in_other_case(UUID) is None
    assert in_other_case("ABCDEF0123") is None
    assert in_other_case("aB") == "Ab"


def test_changed_letter_stays_in_its_alphabet() -> None:
    assert changed(UUID, 0) == "9" + UUID[1:]
    assert changed("fff", 1) == "faf"
    assert changed("zZ9", 0) == "aZ9"
    assert changed("a-b", 1) == "b-b"


def test_blanks_around_a_uuid_may_mean_nothing() -> None:
    for value in ("6f9619ff-8b86-d011-b42d-00c04fc964ff", "6F9619FF8B86D011B42D00C04FC964FF"):
        assert with_blank_before(value) is None
        assert with_blank_behind(value) is None
    assert with_blank_before("client_7") == " client_7"
    assert with_blank_behind("client_7") == "client_7 "
