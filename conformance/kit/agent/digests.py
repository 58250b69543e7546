"""Values that look random, and are digests of what others know or can guess."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from hashlib import md5, sha1, sha256, sha512
from typing import Any

# So many octets in common are no chance, and may be all that is left of a digest.
_COMMON = 8
_HEXADECIMAL = re.compile(f"[0-9a-fA-F]{{{2 * _COMMON}}}")
# Whole groups of four letters, in which there are so many octets.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12}")
_STANDARD = str.maketrans("-_", "+/")
_DIGESTS: Mapping[str, Callable[[bytes], Any]] = {
    "MD5": partial(md5, usedforsecurity=False),
    "SHA-1": partial(sha1, usedforsecurity=False),
    "SHA-256": sha256,
    "SHA-512": sha512,
}


def digests_among(values: Iterable[str], guesses: Iterable[bytes]) -> dict[str, str]:
    """Those values that are a digest of a guess, whole or cut, in hexadecimal or base64url, and which one.

    A shell ends what it prints with a newline, and has that in its digest as well.
    """
    begins: dict[bytes, list[str]] = {}
    for value in values:
        for octets in _beginnings(value):
            begins.setdefault(octets, []).append(value)
    if not begins:
        return {}
    return {
        value: name
        for guess in guesses
        for text in (guess, guess + b"\n")
        for name, digest in _DIGESTS.items()
        for value in begins.get(digest(text).digest()[:_COMMON], ())
    }


def written_for(text: str) -> Iterator[bytes]:
    """What somebody makes a digest of who has this text: the text itself, or what it is decoded to."""
    yield text.encode()
    with suppress(ValueError):
        yield bytes.fromhex(text)
    with suppress(ValueError):
        yield base64.b64decode(text.translate(_STANDARD) + "=" * (-len(text) % 4), validate=True)


def _beginnings(value: str) -> Iterator[bytes]:
    """The first octets of what the value may be written for."""
    if found := _HEXADECIMAL.match(value.replace("-", "")):
        yield bytes.fromhex(found[0])
    if found := _BASE64.match(value):
        yield base64.b64decode(found[0].translate(_STANDARD))[:_COMMON]
