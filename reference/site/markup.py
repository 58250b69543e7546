"""HTML that is escaped because it cannot be written in any other way."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

_VOID = frozenset({"input", "link", "meta"})


class Html(str):
    """Text that is markup already; `tag` makes it, and whatever is not of this type gets escaped."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Attribute: TypeAlias = str | int | bool | None


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. Python's `class_` and `aria_label` are `class` and `aria-label`; None leaves one out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Children one after the other, without an element around them."""
    return Html("".join(map(_text, children)))


def foreign(name: str) -> Html:
    """A name that somebody else chose: it turns no writing direction but its own."""
    return tag("bdi", name)


def octets(html: Html) -> bytes:
    """What goes out. A name may hold what UTF-8 cannot say; a page has to come all the same."""
    return html.encode("utf-8", "replace")


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    return escape(child) if isinstance(child, str) else joined(*child)


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
