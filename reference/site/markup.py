"""Builds HTML with automatic escaping."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

_VOID = frozenset({"input", "link", "meta"})


class Html(str):
    """Markup, as `tag` returns it; any other text is escaped."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
Attribute: TypeAlias = str | int | bool | None


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """An element. `class_` and `aria_label` become `class` and `aria-label`; None omits an attribute."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: Child) -> Html:
    """Children without an element around them."""
    return Html("".join(map(_text, children)))


def foreign(name: str) -> Html:
    """Text from outside, which cannot change the text direction around it."""
    return tag("bdi", name)


def octets(html: Html) -> bytes:
    """The page as bytes; a lone surrogate in a name is replaced."""
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
