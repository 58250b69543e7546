"""A pattern for a word finds what a search without case finds."""

from __future__ import annotations

import re

import pytest

from gateproof.reports.letter_case import FURTHER, word_in_any_case

BESIDE = ["", " ", "-", "_", "a", "\u00e9", "\n", "1"]


@pytest.mark.parametrize("word", ["basic", "bearer", "kiss"])
def test_the_same_is_found_as_without_case(word: str) -> None:
    found = re.compile(word_in_any_case(word))
    without_case = re.compile(rf"\b{word}", re.IGNORECASE)
    forms = {word, word.upper(), word.title(), word[1:], word[:-1]}
    forms |= {word[:at] + other + word[at + 1 :] for at in range(len(word)) for other in f"x\u00e9{FURTHER}"}
    for text in (f"{before}{form}{behind}" for form in forms for before in BESIDE for behind in BESIDE):
        expected = [(each.start(), each.end()) for each in without_case.finditer(text)]
        assert [(each.start(), each.end()) for each in found.finditer(text)] == expected, text


def test_further_letters_are_all_that_count_as_one_of_ascii() -> None:
    ascii_letter = re.compile("[a-z]", re.IGNORECASE)
    others = {chr(code) for code in range(128, 0x11000) if ascii_letter.fullmatch(chr(code))}
    assert others == set(FURTHER)
