"""Credentials with one defect; no decoding makes them equal to the right ones.

A gateway may store the decoded octets of its tokens. Then some changes have no effect: unused bits in the
last base64 character, missing padding, text after the padding, a lone character after the last group, and the
case of hexadecimal digits.
"""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase, digits, hexdigits

_UUID = re.compile("[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}")
# Shorter names may come from a counter: then a similar name may exist, too.
_SHORT = 12


def changed(text: str, place: int) -> str:
    """Changes the character at this position, or the nearest letter or digit before it."""
    at = next((found for found in range(place, -1, -1) if text[found].isalnum()), place)
    return text[:at] + _neighbour(text[at], hexadecimal=set(text) <= {*hexdigits, "-"}) + text[at + 1 :]


def changed_at_the_end(text: str) -> str:
    """Changes the last character but one."""
    return changed(text, max(0, len(text.rstrip("=")) - 2))


def cut_short(text: str) -> str:
    """Removes one character, and so one octet of the decoded value."""
    return text.rstrip("=")[:-1]


def longer(text: str) -> str:
    """Adds two characters, and so one octet of the decoded value."""
    return text.rstrip("=") + "AA"


def twice(text: str) -> str:
    """The value twice; decoded, this gives more or other octets."""
    return text.rstrip("=") + text


def wildcarded(text: str, wildcard: str) -> str:
    """Replaces the last letter or digit by a wildcard."""
    at = next((found for found in range(len(text) - 1, -1, -1) if text[found].isalnum()), len(text) - 1)
    return text[:at] + wildcard + text[at + 1 :]


def in_other_case(text: str) -> str | None:
    """Swaps upper and lower case; None if the value may be case-insensitive."""
    carries = any(map(str.islower, text)) and any(map(str.isupper, text))
    return text.swapcase() if carries else None


def with_blank_before(text: str) -> str | None:
    """The value behind a blank; None for a UUID, which many libraries parse without the blanks around it."""
    return None if _UUID.fullmatch(text) else f" {text}"


def with_blank_behind(text: str) -> str | None:
    """The value and a blank behind it; None for a UUID."""
    return None if _UUID.fullmatch(text) else f"{text} "


def may_be_anothers(name: str) -> bool:
    """True for a name so short that similar names may be in use by others."""
    return len(name) < _SHORT


def _neighbour(letter: str, *, hexadecimal: bool) -> str:
    for alphabet in (digits, *(("abcdef", "ABCDEF") if hexadecimal else (ascii_lowercase, ascii_uppercase))):
        if letter in alphabet:
            return alphabet[(alphabet.index(letter) + 1) % len(alphabet)]
    return "a"
