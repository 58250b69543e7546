"""The lines of a record form a chain: each has the digest of the exact bytes of the line before it."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

START = "0" * 64
_CANONICAL = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Values from a target can be nested more deeply; the rest is cut off.
_DEEPEST = 40
_LISTS, _NUMBERS = (list, tuple), (int, float)


class NotALine(ValueError):
    """The bytes are not a line of a record; the text says why."""


def link(line: bytes) -> str:
    """The digest of this line, for the next line."""
    return hashlib.sha256(line).hexdigest()


def encode(values: Mapping[str, Any]) -> bytes:
    """The values in canonical form: compact, keys sorted, one newline at the end."""
    return _CANONICAL.encode(values).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The values of a line, which has to be in canonical form."""
    if not line.endswith(b"\n"):
        raise NotALine("the line is cut off")
    try:
        values = json.loads(line)
        canonical = isinstance(values, dict) and encode(values) == line
    # Hostile input can also be nested too deeply, or contain a number with too many digits.
    except (ValueError, RecursionError):
        raise NotALine("the line is not JSON") from None
    if not canonical:
        raise NotALine("the line is not in the canonical form of records")
    return dict(values)


def plain(value: Any, deep: int = 0) -> Any:
    """The value without anything that JSON or UTF-8 cannot represent."""
    if deep > _DEEPEST:
        return "…"
    kind = type(value)
    # Almost all values are of these types, which a match would find out more slowly.
    if kind is int or value is None or kind is bool or (kind is str and value.isascii()):
        return value
    match value:
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {_plain_key(key): plain(item, deep + 1) for key, item in value.items()}
        case list() | tuple():
            return [plain(item, deep + 1) for item in value]
        case _:
            return value


def _plain_key(key: Any) -> str:
    key = str(key)
    return key if key.isascii() else _LONE_SURROGATE.sub("\ufffd", key)


def strings(value: Any) -> list[str]:
    """Every string in a line, including keys."""
    found: list[str] = []
    _gather([value], found)
    return found


def _gather(values: Iterable[Any], found: list[str]) -> None:
    for value in values:
        if isinstance(value, str):
            found.append(value)
        # Empty ones, numbers and truth values contain no text.
        elif not value or isinstance(value, _NUMBERS):
            continue
        elif isinstance(value, dict):
            found.extend(value)
            _gather(value.values(), found)
        elif isinstance(value, _LISTS):
            _gather(value, found)


def texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a line, including keys, with its path."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield place, str(key)
            yield from texts(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from texts(item, f"{place}[{number}]")
