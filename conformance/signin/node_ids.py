"""Tags keep the order of the source, which a parsed tree does not.

The tree comes from a real HTML5 parser, but a tree does not say which form owns a control: in
`<table><form><tr><td><input>` and in `<div><form></div><input></form>` the input stands outside the form
and belongs to it all the same. Ownership goes by the order of the tags in the source. So every tag that
matters is numbered in the source before it is parsed; the parser then decides which of them are tags at all
(what stands in comments, scripts, text areas and templates is none), and the numbers restore their order.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NUMBER = "data-gateproof-order"
_TAG = re.compile(r"<(/form|form|input|button|select|textarea)(?=[\s/>])", re.IGNORECASE)
_NUMBERED = re.compile(rf" {_NUMBER}=\d+ |<\?{_NUMBER} \d+>")
_END_OF_FORM = re.compile(rf"<(?:!--)?\?{_NUMBER} (\d+)")


def numbered(source: str) -> str:
    """The source with a number in every tag that opens, closes or fills a form."""
    count = 0

    def number(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        if match[1].startswith("/"):
            return f"<?{_NUMBER} {count}>{match[0]}"
        return f"{match[0]} {_NUMBER}={count} "

    return _TAG.sub(number, source)


def unnumbered(text: str) -> str:
    """Text as it stood in the source, where numbers had got into what is no tag."""
    return _NUMBERED.sub("", text)


def text_of(node: LexborNode) -> str:
    """The text inside an element as it stands there."""
    return unnumbered(node.text(deep=True))


def attributes_of(node: LexborNode) -> dict[str, str]:
    """The attributes as the source has them; one without a value is empty."""
    return {name: unnumbered(value or "") for name, value in node.attributes.items()}


def words_of(node: LexborNode) -> str:
    """The text inside an element, on one line."""
    return " ".join(text_of(node).split())


def in_order(tree: LexborHTMLParser) -> list[LexborNode | None]:
    """Forms and controls in the order of their tags in the source; None is the end tag of a form."""
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
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
