"""Patterns for words in upper and lower case that are searched fast.

With `re.IGNORECASE`, a search tries every position of a text. Without it, it jumps to those where the pattern
can begin, if the pattern begins with a character or a set of characters.
"""

from __future__ import annotations

# Letters that count as one of ASCII in a comparison without case.
_FURTHER = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}
# All of them, to be added to a set with the letters of ASCII.
FURTHER = "".join(_FURTHER.values())


def word_in_any_case(word: str) -> str:
    """A pattern for the word, at the beginning of a word, as `re.IGNORECASE` would find it."""
    first, *rest = (f"[{letter}{letter.upper()}{_FURTHER.get(letter, '')}]" for letter in word)
    return rf"{first}(?<=\b{first})" + "".join(rest)
