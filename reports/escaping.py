"""Escapes text for JSON, XML and Markdown. Text from a target may be hostile."""

from __future__ import annotations

import json
import math
import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

MOST = 1000
_SPECIAL = re.compile(r"[\\`*\[\]|~$<>@]|(?<!\w)_|_(?!\w)|&(?=[#\w])|#(?=\w)|:(?=//|[\w+-]+:)|(?<=www)\.")
# Commands to CI systems: `::name` at the start of a line, and `##[`, `##vso[` and `##teamcity[` anywhere.
_COLONS, _MARKED = re.compile(r"^(\s*)(::)"), re.compile(r"##(?=\w*\[)")
_OTHERWISE = {
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
    "|": "&#124;",
    # A backslash does not stop these from being a mention, an address or a reference; a comment does.
    "@": "@<!-- -->",
    "#": "#<!-- -->",
}


def visible(text: str) -> str:
    """The text with an escape sequence for every invisible character.

    These are the control and format characters, such as direction overrides, and lone surrogates.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _mark(char) for char in text)


def harmless(text: str) -> str:
    """The text as a terminal may show it and a CI system may log it."""
    return "\n".join(map(without_commands, visible(text).split("\n")))


def without_commands(line: str) -> str:
    """The line without anything that GitHub, Azure or TeamCity read as a command; it looks the same."""
    return _MARKED.sub("##\u200b", _COLONS.sub("\\1\u200b\\2", line))


def one_line(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(visible(text).split())


def shortened(text: str, most: int = MOST) -> str:
    """The text on one line, cut after `most` characters, with its length."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[:most]}… ({len(line)} characters)"


def json_bytes(value: Any, *, indent: int | None = 2) -> bytes:
    """The value as JSON in UTF-8 that strict readers accept.

    Without an indent this is several times faster, which matters for large documents.
    """
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)
    # A lone surrogate becomes a JSON escape sequence.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def xml(text: str) -> str:
    """The text as XML character data."""
    return escape(visible(text))


def attribute(text: str) -> str:
    """The text as a quoted XML attribute; line breaks and tabs are kept."""
    return quoteattr(visible(text))


def prose(text: str, *, most: int = MOST) -> str:
    """The text as one line of Markdown, without links and mentions."""
    return _SPECIAL.sub(_escaped, shortened(text, most))


def code(text: str, *, most: int = MOST) -> str:
    """The text as one Markdown code span."""
    shown = shortened(text, most)
    if not shown:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{space}{shown}{space}{fence}"


def cell(markdown: str) -> str:
    """Markdown for a table cell; renderers disagree about a bar in a code span, so it is replaced."""
    return markdown.replace("|", r"\x7c")


def _escaped(found: re.Match[str]) -> str:
    return _OTHERWISE.get(found[0], f"\\{found[0]}")


def _mark(char: str) -> str:
    number = ord(char)
    return (
        f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
    )


def _finite(value: Any) -> Any:
    """The value with strings in place of the numbers that JSON does not have."""
    match value:
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
        case float() if not math.isfinite(value):
            return str(value)
    return value
