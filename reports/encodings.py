"""The encoded forms of a value, for redaction and for the detection of leaks."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from urllib.parse import quote, quote_plus


# A run redacts the same few thousand secrets in every check.
@lru_cache(maxsize=8192)
def whole(value: str) -> frozenset[str]:
    """The value in every encoding that is common in URLs, headers and bodies."""
    raw = _octets(value)
    forms = {value, quote(raw, safe=""), quote_plus(raw), raw.hex(), raw.hex().upper()}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(raw).decode("ascii")
        forms |= {encoded, encoded.rstrip("=")}
    return frozenset(forms)


def as_a_value(value: str) -> re.Pattern[str]:
    """A pattern for the value as a complete member, parameter, header or element.

    This is for short secrets, which could be ordinary words in running text.
    """
    before = r"""(^|["'=:>\x00]|[:,]\ )"""
    behind = r"""(?=$|["'&<;,}\]\s\x00])"""
    return re.compile(before + re.escape(value) + behind, re.MULTILINE)


def embedded(value: str) -> frozenset[str]:
    """Also the forms of the value inside a longer encoded text: base64 at all alignments."""
    raw = _octets(value)
    forms = set(whole(value))
    for lead in range(3):
        padded = b"\0" * lead + raw
        # Only the characters that depend on the value alone, not on its neighbours.
        start, end = -(-lead * 8 // 6), len(padded) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(padded).decode("ascii")[start:end])
    return frozenset(form for form in forms if form)


def _octets(value: str) -> bytes:
    """The value in UTF-8; a lone surrogate, which JSON allows, is kept."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
