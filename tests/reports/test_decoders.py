"""Every character reference of HTML is decoded, however it is written."""

from __future__ import annotations

import html
from html.entities import html5

import pytest

from gateproof.reports.decoders import readings

_NUMBERS = ("#65;", "#x41;", "#X41;", "#65", "#x41", "#x110000;", "#0;")


@pytest.mark.parametrize("behind", ["", "x", "; x", "=x", "&", "\n", "x" * 40 + ";"])
def test_decodes_every_character_reference(behind: str) -> None:
    for name in (*html5, *(name.rstrip(";") for name in html5), *_NUMBERS):
        text = f"a&{name}{behind}"
        decoded = [reading.text for reading in readings(text) if reading.how == "HTML-escaped"]
        assert decoded == ([html.unescape(text)] if html.unescape(text) != text else [])


def test_parameters_of_a_url_are_no_character_references() -> None:
    assert "HTML-escaped" not in {reading.how for reading in readings("?a=1&state=b&client_id=c")}
