"""Helpers for JSON documents, and the comparison of URLs in them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_UNRESERVED = re.compile(r"%(2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])")


def same_url(one: object, other: str) -> bool:
    """True if both are the same URL: case, default port, dot segments and needless escapes are ignored."""
    return isinstance(one, str) and _normalized(one) == _normalized(other)


def holds_url(listed: object, wanted: str) -> bool:
    """True if an array contains this URL."""
    return isinstance(listed, list) and any(same_url(each, wanted) for each in listed)


def in_any_order(value: object) -> object:
    """The value for a comparison that ignores the order of strings in an array."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return sorted(value)
    return value


def _normalized(url: str) -> tuple[object, ...] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    port = port or {"https": 443, "http": 80}.get(parts.scheme.lower())
    path = _UNRESERVED.sub(lambda found: chr(int(found[1], 16)), parts.path)
    plain = _without_dots(path or "/")
    return parts.scheme.lower(), (parts.hostname or "").lower(), port, plain, parts.query, parts.fragment


def _without_dots(path: str) -> str:
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[max(1, len(kept) - 1) :]
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept)


def strings_in(document: object) -> list[str]:
    """Every string value of a JSON document, at any depth."""
    if isinstance(document, str):
        return [document]
    if isinstance(document, dict):
        return [text for value in document.values() for text in strings_in(value)]
    if isinstance(document, list):
        return [text for value in document for text in strings_in(value)]
    return []


def keys_in(document: object) -> list[str]:
    """Every member name of a JSON document, at any depth."""
    if isinstance(document, dict):
        return [*document, *(name for value in document.values() for name in keys_in(value))]
    if isinstance(document, list):
        return [name for value in document for name in keys_in(value)]
    return []
