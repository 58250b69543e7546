"""Removes JSON and HTML escapes from a text, and maps positions back to the original."""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# JSON is nested in JSON and in HTML, but hardly ever more deeply.
_DEPTH = 3
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}"
    r"|\\[\"'/\\bfnrt]|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unescaped:
    """A text without one layer of escapes.

    `ends` are the positions after the escapes; `longer` is by how much the original is longer there.
    """

    text: str
    ends: list[int]
    longer: list[int]
    outer: Unescaped | None

    def origin(self, place: int) -> int:
        """The position in the original text."""
        place += self.longer[bisect_right(self.ends, place)]
        return place if self.outer is None else self.outer.origin(place)


def may_have_layers(text: str) -> bool:
    """False if the text has no character with which an escape begins."""
    return "\\" in text or "&" in text


def layers(text: str) -> Iterator[Unescaped]:
    """The text without its escapes, then without the escapes in that text, and so on."""
    outer: Unescaped | None = None
    for _ in range(_DEPTH):
        inner = _unescaped(text, outer)
        if inner.text == text:
            return
        yield inner
        outer, text = inner, inner.text


def _unescaped(text: str, outer: Unescaped | None) -> Unescaped:
    ends: list[int] = []
    longer = [0]

    def undone(found: re.Match[str]) -> str:
        character = _character(found[0])
        if len(character) != 1:
            return found[0]
        ends.append(found.start() - longer[-1] + 1)
        longer.append(longer[-1] + len(found[0]) - 1)
        return character

    return Unescaped(text=_ESCAPE.sub(undone, text), ends=ends, longer=longer, outer=outer)


@lru_cache(maxsize=1024)
def _character(escape: str) -> str:
    """The character of an escape; an unknown HTML name is returned unchanged."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[1] == "x":
        return chr(int(f"0{escape[1:]}", 0))
    return "'" if escape == r"\'" else str(json.loads(f'"{escape}"'))
