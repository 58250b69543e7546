"""What a target says is shown in every format, and does nothing in any."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateproof.reports.escaping import (
    attribute,
    cell,
    code,
    json_bytes,
    one_line,
    prose,
    shortened,
    visible,
    xml,
)

ANYTHING = st.text(alphabet=st.characters(), max_size=60)
# What a renderer would make something of, beside what nobody thinks of.
PIECES = st.sampled_from(["://", "https", "www.", "mailto:", "\\", "@", "#", "_", "&", "a", ".", "|", "`"])
MARKUP = st.lists(PIECES | ANYTHING, max_size=8).map("".join)


@given(ANYTHING)
def test_xml_of_any_text_is_well_formed_and_reads_as_what_is_visible(text: str) -> None:
    document = f"<a b={attribute(text)}>{xml(text)}</a>".encode()
    read = ElementTree.fromstring(document)  # noqa: S314 - our own output
    assert read.get("b") == visible(text)
    assert (read.text or "") == visible(text)


@given(
    st.recursive(
        ANYTHING | st.floats() | st.integers() | st.none(),
        lambda each: st.lists(each) | st.dictionaries(ANYTHING, each),
        max_leaves=8,
    )
)
def test_json_of_any_value_is_strict(value: object) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(json_bytes(value).decode("utf-8"), parse_constant=refuse)


def test_json_keeps_what_was_said() -> None:
    said = {"text": "\x00 \u202e \ud800 ⟨code#1⟩", "number": 1.5}
    assert json.loads(json_bytes(said)) == said


@example("see https://thief.example/x")
@example("://")
@given(MARKUP)
def test_prose_is_one_line_without_markup_mention_or_address(text: str) -> None:
    shown = prose(text)
    assert "\n" not in shown
    # What is escaped stands for itself, and so does a character that is written as a reference.
    bare = re.sub(r"\\.|&[#\w]+;|<!-- -->", "\0", shown)
    assert not set("`*[]<>|~$\\") & set(bare)
    assert not re.search(r"@(?!\0)|#(?!\0)\w", re.sub(r"&#?\w+;", "", bare))
    assert "://" not in bare
    assert "www." not in bare


@given(MARKUP)
def test_a_code_span_closes_where_it_ends(text: str) -> None:
    shown = code(text)
    if not one_line(text):
        assert shown == ""
        return
    fence = re.match("`+", shown)
    assert fence is not None
    inside = shown[len(fence[0]) : -len(fence[0])]
    assert fence[0] not in re.findall("`+", inside)
    assert shown.endswith(fence[0])
    assert inside.strip() == one_line(text).strip()
    assert "|" not in cell(shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", r"a\x00b"),
        ("\u202eevil", r"\u202eevil"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("ä⟨code#1⟩漢", "ä⟨code#1⟩漢"),
    ],
)
def test_what_nobody_would_see_becomes_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert shortened("x" * 2000) == f"{'x' * 1000}… (2000 characters)"
