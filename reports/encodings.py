"""The forms in which a value travels: what has to be hidden, and what a leak looks like."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from urllib.parse import quote, quote_plus


# A run hides the same few thousand secrets in check after check.
@lru_cache(maxsize=8192)
def whole(value: str) -> frozenset[str]:
    """The value by itself, in every encoding that a URL, a header or a body commonly gives it."""
    raw = _octets(value)
    forms = {value, quote(raw, safe=""), quote_plus(raw), raw.hex(), raw.hex().upper()}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(raw).decode("ascii")
        forms |= {encoded, encoded.rstrip("=")}
    return frozenset(forms)


def as_a_value(value: str) -> re.Pattern[str]:
    """Finds the value where it is the whole of one: of a member, a parameter, a header, an element.

    In running text a short secret may as well be a word.
    """
    before = r"""(^|["'=:>\x00]|[:,]\ )"""
    behind = r"""(?=$|["'&<;,}\]\s\x00])"""
    return re.compile(before + re.escape(value) + behind, re.MULTILINE)


def embedded(value: str) -> frozenset[str]:
    """The value also as the middle of something longer that was encoded as one: base64 in all alignments."""
    raw = _octets(value)
    forms = set(whole(value))
    for lead in range(3):
        padded = b"\0" * lead + raw
        # Only the characters that depend on nothing but the value: the rest varies with its neighbours.
        start, end = -(-lead * 8 // 6), len(padded) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            forms.add(encode(padded).decode("ascii")[start:end])
    return frozenset(form for form in forms if form)


def _octets(value: str) -> bytes:
    """The value in UTF-8; JSON can name halves of characters, which have no place in it."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
