"""A credential with one thing wrong about it: no way to decode it takes it for the right one.

A gateway may keep the octets behind its tokens. The last character of base64 can hold bits that no decoder
reads, padding can be missing, some read no further than padding, some skip a lone character behind the last
group, and hexadecimal means the same in either case.
"""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits, hexdigits

# Names shorter than this are counted up by some: next to one of them there may be another one.
_SHORT = 12


def changed(text: str, place: int) -> str:
    """Another letter in this place, or in the nearest one before it that holds a letter or digit."""
    at = next((found for found in range(place, -1, -1) if text[found].isalnum()), place)
    return text[:at] + _neighbour(text[at], hexadecimal=set(text) <= {*hexdigits, "-"}) + text[at + 1 :]


def changed_at_the_end(text: str) -> str:
    """Another letter in the last place but one."""
    return changed(text, max(0, len(text.rstrip("=")) - 2))


def cut_short(text: str) -> str:
    """One character less, and one octet less when it is decoded."""
    return text.rstrip("=")[:-1]


def longer(text: str) -> str:
    """Two characters more, and an octet more when it is decoded."""
    return text.rstrip("=") + "AA"


def twice(text: str) -> str:
    """The same once more behind it, and twice the octets or others when it is decoded."""
    return text.rstrip("=") + text


def wildcarded(text: str, wildcard: str) -> str:
    """A character that stands for any in place of the last letter or digit."""
    at = next((found for found in range(len(text) - 1, -1, -1) if text[found].isalnum()), len(text) - 1)
    return text[:at] + wildcard + text[at + 1 :]


def in_other_case(text: str) -> str | None:
    """Small letters for capitals and the other way round; None where case may well mean nothing."""
    carries = any(map(str.islower, text)) and any(map(str.isupper, text))
    return text.swapcase() if carries else None


def may_be_anothers(name: str) -> bool:
    """True for a name so short that its neighbours may have been given out as well."""
    return len(name) < _SHORT


def _neighbour(letter: str, *, hexadecimal: bool) -> str:
    for alphabet in (digits, *(("abcdef", "ABCDEF") if hexadecimal else (ascii_lowercase, ascii_uppercase))):
        if letter in alphabet:
            return alphabet[(alphabet.index(letter) + 1) % len(alphabet)]
    return "a"
