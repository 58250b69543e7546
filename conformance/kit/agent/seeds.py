"""Finds values of a random generator whose seed can be guessed: the time, or a process ID."""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Mapping
from random import Random

from gateproof.conformance.kit.agent.digests import readings_of

# Equal parts of this length are no coincidence: in octets, and in letters (some stand for 4 bits each).
_COMMON, _COMMON_LETTERS = 8, 16
# How much is generated for each seed: verifier and state may not be the first values.
_OCTETS, _LETTERS = 192, 112
# The generator's output consists of words of this length.
_WORD = 4
_ALPHANUMERIC = string.ascii_letters + string.digits
_ALPHABETS = (
    _ALPHANUMERIC,
    f"{_ALPHANUMERIC}-._~",
    "0123456789abcdef",
)


def seeded_among(values: Iterable[str], seeds: Iterable[int]) -> Mapping[str, int]:
    """Maps each value that Python's generator produces from one of these seeds to the seed.

    The value may be octets in hexadecimal or base64url, in either byte order, or letters of a common
    alphabet.
    """
    octets: dict[bytes, str] = {}
    letters: dict[str, str] = {}
    for value in values:
        if len(value) >= _COMMON_LETTERS:
            letters[value[:_COMMON_LETTERS]] = value
        for read in readings_of(value):
            octets |= {part[:_COMMON]: value for part in (read, read[::-1]) if len(part) >= 2 * _COMMON}
    found: dict[str, int] = {}
    for seed in seeds:
        found |= {octets[part]: seed for part in _drawn_octets(seed) if part in octets}
        found |= {letters[part]: seed for part in _drawn_letters(seed) if part in letters}
    return found


def _drawn_octets(seed: int) -> Iterator[bytes]:
    drawn = Random(seed).randbytes(_OCTETS)  # noqa: S311 - what others have drawn
    return (drawn[place : place + _COMMON] for place in range(0, _OCTETS - _COMMON + 1, _WORD))


def _drawn_letters(seed: int) -> Iterator[str]:
    for alphabet in _ALPHABETS:
        together, one_by_one = Random(seed), Random(seed)  # noqa: S311 - what others have drawn
        for drawn in (
            "".join(together.choices(alphabet, k=_LETTERS)),
            "".join(one_by_one.choice(alphabet) for _ in range(_LETTERS)),
        ):
            yield from (
                drawn[place : place + _COMMON_LETTERS] for place in range(_LETTERS - _COMMON_LETTERS + 1)
            )
