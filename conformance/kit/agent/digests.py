"""Finds values that look random but are digests of known or guessable data."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import md5, sha1, sha256, sha512
from typing import Any

# Equal octets that are no coincidence; a truncated digest may have no more than this.
_COMMON = 8
_HEXADECIMAL = re.compile(f"[0-9a-fA-F]{{{2 * _COMMON}}}")
# Three base64 groups of four characters decode to at least that many octets.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12}")
_STANDARD = str.maketrans("-_", "+/")
_DIGESTS: Mapping[str, Callable[[bytes], Any]] = {
    "MD5": partial(md5, usedforsecurity=False),
    "SHA-1": partial(sha1, usedforsecurity=False),
    "SHA-256": sha256,
    "SHA-512": sha512,
}


def digests_among(values: Iterable[str], guesses: Iterable[bytes]) -> dict[str, str]:
    """Maps each value that is a digest of a guess to the algorithm; the value may be truncated.

    Values are read as hexadecimal and as base64url. Each guess is also tried with a newline at its end,
    because shell scripts often hash the output of `echo`.
    """
    known: dict[bytes, list[str]] = {}
    for value in values:
        for octets in _beginnings(value):
            known.setdefault(octets, []).append(value)
    if not known:
        return {}
    return {
        value: name
        for guess in guesses
        for text in (guess, guess + b"\n")
        for name, digest in _DIGESTS.items()
        for value in known.get(digest(text).digest()[:_COMMON], ())
    }


def readings_of(text: str) -> Iterator[bytes]:
    """The octets that a text may stand for: the text itself, and its hexadecimal or base64 decoding."""
    yield text.encode()
    with suppress(ValueError):
        yield bytes.fromhex(text)
    with suppress(ValueError):
        yield base64.b64decode(text.translate(_STANDARD) + "=" * (-len(text) % 4), validate=True)


def _beginnings(value: str) -> Iterator[bytes]:
    """The first octets of the value, decoded as hexadecimal and as base64url."""
    if found := _HEXADECIMAL.match(value.replace("-", "")):
        yield bytes.fromhex(found[0])
    if found := _BASE64.match(value):
        yield base64.b64decode(found[0].translate(_STANDARD))[:_COMMON]
