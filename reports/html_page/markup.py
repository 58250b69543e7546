"""Converts text into safe markup.

Text from a target may be hostile. It may contain markup, invisible characters, and characters that change the
text direction. Such characters are shown as marks with their code point.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from urllib.parse import quote

# Controls except tab and line feed, soft hyphens, zero-width and direction marks, line separators, byte order
# marks, language tags, and surrogates, which UTF-8 cannot represent.
_UNSEEN = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\uffff"
    "\\ud800-\\udfff\\U000e0000-\\U000e0fff]"
)
# The labels of redaction: ⟨client_secret#1⟩, ⟨opaque~3⟩, ⟨hidden⟩.
_LABEL = re.compile(r"⟨[a-z][^⟨⟩<>&]{0,80}⟩")
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.-]")


def text(value: object) -> str:
    """The value as the content of an element; invisible characters are marked."""
    escaped = html.escape(str(value), quote=False)
    return _UNSEEN.sub(lambda found: f"<b class=u>{_code_point(found)}</b>", escaped)


def attribute(value: object) -> str:
    """The value for an attribute in double quotes, or for text without elements: a title, SVG text."""
    return html.escape(_UNSEEN.sub(lambda found: f"[{_code_point(found)}]", str(value)), quote=True)


def foreign(value: object) -> str:
    """Text from a target inside our own text; it cannot change the text direction."""
    return f"<bdi>{text(value)}</bdi>"


def labelled(value: object) -> str:
    """Text of an exchange, with the labels of secrets highlighted."""
    return _LABEL.sub(lambda found: f"<i>{found.group()}</i>", text(value))


def cut(value: str, most: int) -> str:
    """The beginning of a long text, with its length."""
    return value if len(value) <= most else f"{value[:most]}… ({len(value)} characters)"


def block(value: str, kind: str = "") -> str:
    """Preformatted lines. Browsers drop the first line feed, so one is added."""
    of_kind = f' class="{kind}"' if kind else ""
    return f"<pre{of_kind}>\n{labelled(value)}</pre>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of terms and descriptions, both as markup; terms without a description are left out."""
    shown = "".join(f"<div><dt>{term}</dt><dd>{said}</dd></div>" for term, said in rows if said)
    return f"<dl class=facts>{shown}</dl>"


def anchor(name: str) -> str:
    """The name as an element ID and link fragment."""
    return _NOT_IN_AN_ID.sub("-", name) or "-"


def link(name: str, shown: str | None = None) -> str:
    return f'<a href="#{anchor(name)}">{text(name if shown is None else shown)}</a>'


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def picture(svg: str) -> str:
    """An SVG picture as a data URL."""
    return f"data:image/svg+xml,{quote(svg)}"


def _code_point(found: re.Match[str]) -> str:
    return f"U+{ord(found.group()):04X}"
