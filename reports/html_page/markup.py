"""Text from anywhere becomes markup that shows it and does nothing else.

What a target says is hostile: besides markup it may hold characters that nobody sees, and characters that
turn the reading direction of what follows. Both are shown as marks with their code point.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from urllib.parse import quote

# Controls but tab and line feed, soft hyphens, zero-width and direction marks, line separators, byte order
# marks, language tags, and surrogates, which UTF-8 cannot hold.
_UNSEEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff"
    "\\ud800-\\udfff\\U000e0000-\\U000e0fff]"
)
# How redaction writes what it took out: ⟨client_secret#1⟩, ⟨opaque~3⟩, ⟨hidden⟩.
_LABEL = re.compile(r"⟨[a-z][^⟨⟩<>&]{0,80}⟩")
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.-]")


def text(value: object) -> str:
    """The value as the content of an element; what cannot be seen is marked."""
    escaped = html.escape(str(value), quote=False)
    return _UNSEEN.sub(lambda found: f"<b class=u>{_code_point(found)}</b>", escaped)


def attribute(value: object) -> str:
    """The value between double quotes, or in a place that takes no elements: a title, a text of an SVG."""
    return html.escape(_UNSEEN.sub(lambda found: f"[{_code_point(found)}]", str(value)), quote=True)


def foreign(value: object) -> str:
    """A target's words within a sentence of ours, whose direction they cannot change."""
    return f"<bdi>{text(value)}</bdi>"


def labelled(value: object) -> str:
    """Text of an exchange, in which the labels that stand for secrets are easy to find."""
    return _LABEL.sub(lambda found: f"<i>{found.group()}</i>", text(value))


def cut(value: str, most: int) -> str:
    """The beginning of a long text, and how long it is."""
    return value if len(value) <= most else f"{value[:most]}… ({len(value)} characters)"


def block(value: str, kind: str = "") -> str:
    """Lines as they stand. The first line feed is eaten by browsers, so there is one to eat."""
    of_kind = f' class="{kind}"' if kind else ""
    return f"<pre{of_kind}>\n{labelled(value)}</pre>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Terms with what is said of them, both of them markup; a term of which nothing is said is left out."""
    shown = "".join(f"<div><dt>{term}</dt><dd>{said}</dd></div>" for term, said in rows if said)
    return f"<dl class=facts>{shown}</dl>"


def anchor(name: str) -> str:
    """A name that can be an element's id and a link's fragment."""
    return _NOT_IN_AN_ID.sub("-", name) or "-"


def link(name: str, shown: str | None = None) -> str:
    return f'<a href="#{anchor(name)}">{text(name if shown is None else shown)}</a>'


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def picture(svg: str) -> str:
    """A picture as an address that holds it, so that nothing is fetched."""
    return f"data:image/svg+xml,{quote(svg)}"


def _code_point(found: re.Match[str]) -> str:
    return f"U+{ord(found.group()):04X}"
