"""Another spelling says the same octets, or the same letters."""

from __future__ import annotations

from base64 import urlsafe_b64decode

from gateproof.conformance.kit.inputs.respellings import in_swapped_case, in_the_spare_bits


def test_spare_bits_say_the_same_octets() -> None:
    for last in "AQgwBRhx_-":
        text = "A" * 42 + last
        other = in_the_spare_bits(text)

        assert other is not None
        assert other != text
        assert urlsafe_b64decode(other + "=") == urlsafe_b64decode(text + "=")


def test_what_has_no_such_spelling_has_none() -> None:
    assert in_the_spare_bits("") is None
    assert in_the_spare_bits("a.b~") is None
    assert in_swapped_case("0123-456") is None
    assert in_swapped_case("0aB") == "0Ab"
