"""How unguessable a series of values looks from outside."""

from __future__ import annotations

import base64
import math
import string
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise, takewhile

# Alphabets that generators use; what was seen is rounded up to the next, since a sample misses some letters.
_ALPHABETS = (2, 4, 8, 10, 16, 26, 32, 36, 52, 58, 62, 64)
# So often a letter has to come again in its place, in each group, before that is no chance.
_AGAIN = 4
# So many values make two steps, which are the same by no chance.
_TWO_STEPS = 3
_HEXADECIMAL = "0123456789abcdef"
_BASE64URL = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}-_"


def apparent_bits(samples: Sequence[str]) -> float:
    """The bits that the positions of the samples carry, judged by how much each varies.

    A position that varies as freely as its alphabet allows counts in full; one that varies less counts for
    what was seen of it. A constant prefix counts nothing, and neither do repeats. 32 samples are enough to
    tell the full sixteen letters of hexadecimal from the four of a version nibble.
    """
    return _bits(_columns(samples), len(samples))


def bits_within(groups: Sequence[Sequence[str]]) -> float | None:
    """The same without what never varies in any group of samples; None where too few are in company.

    What one install keeps differs from what another one does, and looks random over many of them. It may
    stand anywhere; places are counted from both ends, since a number between two such parts may get longer.
    """
    if sum(len(group) - 1 for group in groups) < _AGAIN:
        return None
    return min(_left_in(part) for part in (_trimmed(groups), _trimmed(_reversed(groups))))


def most_bits(samples: Sequence[str]) -> float:
    """The most bits that the positions of a few samples may carry: each that varies at all counts in full.

    Eight samples of a letter that carries two bits often show three of the four; no generator is blamed for
    that. What is missing from a version digit, which never varies, shows all the same.
    """
    columns = _columns(samples)
    return sum(math.log2(_alphabet(columns)) for column in columns if len(column) > 1)


def _trimmed(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Without the beginning that all of a group have, as far as each has one, and without such an end."""
    several = [group for group in groups if len(group) > 1]
    begins, ends = min(map(_alike, several)), min(map(_alike, _reversed(several)))
    return [[sample[begins : max(begins, len(sample) - ends)] for sample in group] for group in groups]


def _alike(group: Sequence[str]) -> int:
    """How many letters at the beginning are the same in all of the group."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*group, strict=False))
    return sum(1 for _ in same)


def _reversed(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[sample[::-1] for sample in group] for group in groups]


def _left_in(groups: Sequence[Sequence[str]]) -> float:
    samples = [sample for group in groups for sample in group]
    columns = [
        column
        for place, column in enumerate(_columns(samples))
        if any(len({sample[place : place + 1] for sample in group} - {""}) > 1 for group in groups)
    ]
    return _bits(columns, len(samples))


def _bits(columns: Sequence[set[str]], count: int) -> float:
    alphabet = _alphabet(columns)
    expected = alphabet * (1 - (1 - 1 / alphabet) ** count)
    return sum(math.log2(alphabet if len(column) >= expected / 2 else len(column)) for column in columns)


def _columns(samples: Sequence[str]) -> list[set[str]]:
    """The letters that were seen in each position that at least half of the samples have.

    A number that is written out is a digit shorter now and then, and has no fewer bits for that.
    """
    length = sorted(map(len, samples))[len(samples) // 2]
    return [{sample[place] for sample in samples if place < len(sample)} for place in range(length)]


def _alphabet(columns: Sequence[set[str]]) -> int:
    """How many letters the generator seems to have; one where nothing varies."""
    letters: set[str] = set().union(*(column for column in columns if len(column) > 1))
    return next((size for size in (1, *_ALPHABETS) if size >= len(letters)), len(letters))


def spelled_out(samples: Sequence[str]) -> list[str]:
    """The samples without encodings that only make them look longer, however many: those of what is text.

    Random octets are hardly ever text, so where all samples are, text is what somebody encoded. A mark that
    all have in front of it, such as `v1.`, is none of it.
    """
    for unmarked in _without_mark(samples):
        for decode in (_octets, bytes.fromhex, _of_base32):
            inner = _texts(unmarked, decode)
            if inner is not None:
                return spelled_out(inner)
    return list(samples)


def _without_mark(samples: Sequence[str]) -> Iterator[list[str]]:
    """The samples, and then without what all begin with, up to each character that is no letter or digit."""
    yield list(samples)
    shared = samples[0][: _alike(samples)] if len(set(samples)) > 1 else ""
    for place, char in enumerate(shared, 1):
        if not char.isalnum():
            yield [sample[place:] for sample in samples]


def steady_steps(samples: Sequence[str]) -> bool:
    """True when the values, read as numbers, follow each other in steps of one and the same size.

    A counter that is scrambled by a multiplication varies in every position, and is guessed all the same.
    """
    if len(samples) < _TWO_STEPS:
        return False
    hexadecimal = [sample.replace("-", "").lower() for sample in samples]
    base64url = [sample.rstrip("=") for sample in samples]
    return _steady(hexadecimal, _HEXADECIMAL) or _steady(base64url, _BASE64URL)


def _texts(samples: Sequence[str], decode: Callable[[str], bytes]) -> list[str] | None:
    """What the samples are decoded to; None unless all of it is text."""
    try:
        inner = [decode(sample).decode("ascii") for sample in samples]
    except ValueError:
        return None
    return inner if all(text and text.isprintable() for text in inner) else None


def _steady(texts: Sequence[str], alphabet: str) -> bool:
    """Where all that varies is one number: what is random beside a counter is no part of its steps."""
    (parts,) = _trimmed([texts])
    try:
        numbers = [_number(part, alphabet) for part in parts]
    except ValueError:
        return False
    # A scrambled counter wraps around at a whole word, which begins somewhere in the first letter.
    length = max(map(len, parts)) * (len(alphabet) - 1).bit_length()
    for bits in range(max(1, length - 5), length + 1):
        steps = {(after - before) % (1 << bits) for before, after in pairwise(numbers)}
        if len(steps) == 1 and steps != {0} and len({number >> bits for number in numbers}) == 1:
            return True
    return False


def _number(text: str, alphabet: str) -> int:
    return reduce(lambda number, letter: number * len(alphabet) + alphabet.index(letter), text, 0)


def _octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _of_base32(text: str) -> bytes:
    return base64.b32decode(text + "=" * (-len(text) % 8), casefold=True)
