"""Numbers tags to restore their order in the source, which a parsed tree loses.

A tree does not show which form owns a control: in `<table><form><tr><td><input>` and in
`<div><form></div><input></form>` the input is outside of the form element and still belongs to the form.
Ownership follows the order of the tags in the source. So the relevant tags are numbered before parsing. The
parser then decides what is a tag (not text in comments, scripts, text areas and templates), and the numbers
give the order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NUMBER = "data-gateproof-order"
_DEEPEST = 512
_TAG = re.compile(r"<(/form|form|input|button|select|textarea)(?=[\s/>])", re.IGNORECASE)
_NUMBERED = re.compile(rf" {_NUMBER}=\d+ |<\?{_NUMBER} \d+>")
_END_OF_FORM = re.compile(rf"<(?:!--)?\?{_NUMBER} (\d+)")


def numbered(source: str) -> str:
    """The source with a number in every tag of a form or control."""
    count = 0

    def number(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        if match[1].startswith("/"):
            return f"<?{_NUMBER} {count}>{match[0]}"
        return f"{match[0]} {_NUMBER}={count} "

    return _TAG.sub(number, source)


def unnumbered(text: str) -> str:
    """Removes the numbers from text that was not a tag."""
    return _NUMBERED.sub("", text) if _NUMBER in text else text


def text_of(node: LexborNode) -> str:
    """The text of an element."""
    return unnumbered(node.text(deep=True))


def attributes_of(node: LexborNode) -> dict[str, str]:
    """The attributes of an element; one without a value is empty."""
    return {name: unnumbered(value) if value else "" for name, value in node.attributes.items()}


def words_of(node: LexborNode) -> str:
    """The text of an element on one line."""
    return " ".join(text_of(node).split())


class Words:
    """The text of elements on one line, read once for each."""

    def __init__(self) -> None:
        self._read: dict[int, str] = {}

    def __call__(self, node: LexborNode) -> str:
        if node.mem_id not in self._read:
            self._read[node.mem_id] = words_of(node)
        return self._read[node.mem_id]


def in_order(tree: LexborHTMLParser) -> list[LexborNode | None]:
    """Forms and controls in source order; None stands for the end tag of a form."""
    found: dict[int, LexborNode | None] = {}
    if tree.root is None:
        return []
    for node in tree.root.traverse(include_text=False):
        if node.is_element_node:
            number = node.attributes.get(_NUMBER)
            if number is not None and number.isdigit():
                found[int(number)] = node
        elif (end := _END_OF_FORM.match(node.html or "")) is not None:
            found[int(end[1])] = None
    return [found[number] for number in sorted(found)]


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The elements around this one; no more than browsers allow as depth."""
    parent = node.parent
    for _ in range(_DEEPEST):
        if parent is None:
            return
        yield parent
        parent = parent.parent
