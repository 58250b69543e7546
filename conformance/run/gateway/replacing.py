"""Replaces texts in what a gateway gave a browser, in the encodings that servers use for it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

# Signed values have several parts: those of a JWT, or a value, its time and its signature.
_PARTS = re.compile(r"([.:|])")


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """The text with these parts replaced, as they are, percent-encoded or in base64."""
    plain = _plainly(text, changes)
    if plain != text:
        return plain
    return "".join(_in_base64(part, changes) for part in _PARTS.split(text))


def replaced_in_url(url: str, changes: Mapping[str, str]) -> str:
    """The URL with these parts replaced; each value of its query may be encoded by itself."""
    path, mark, query = url.partition("?")
    pairs = (pair.partition("=") for pair in query.split("&"))
    changed = (f"{name}{equals}{replaced(value, changes)}" for name, equals, value in pairs)
    return _plainly(path, changes) + mark + "&".join(changed)


def _plainly(text: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        text = text.replace(old, new).replace(quote(old, safe=""), quote(new, safe=""))
    return text


def _in_base64(part: str, changes: Mapping[str, str]) -> str:
    bare = unquote(part)
    try:
        octets = base64.b64decode(_padded(bare).translate(_FROM_URL), validate=True)
        inner = octets.decode()
    except (binascii.Error, ValueError):
        return part
    other = _plainly(inner, changes)
    if other == inner:
        return part
    written = base64.b64encode(other.encode()).decode()
    unpadded = bool(len(bare) % 4)
    if unpadded:
        written = written.rstrip("=")
    if unpadded or {"-", "_"} & set(bare):
        written = written.translate(_TO_URL)
    return quote(written, safe="") if bare != part else written


def _padded(text: str) -> str:
    return text + "=" * (-len(text) % 4)


_FROM_URL = str.maketrans("-_", "+/")
_TO_URL = str.maketrans("+/", "-_")
