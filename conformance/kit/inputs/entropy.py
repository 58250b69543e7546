"""Estimates from samples how hard generated values are to guess."""

from __future__ import annotations

import base64
import math
import string
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice, pairwise, takewhile, zip_longest

# Alphabet sizes of common generators. The observed size is rounded up to the next one, because a sample may
# miss some characters.
_ALPHABETS = (2, 4, 8, 10, 16, 26, 32, 36, 52, 58, 62, 64)
# For an upper bound, the size is rounded up further: the alphabets in between are unknown. Alphabets with
# fewer letters than the first would need more samples, since a letter often repeats by chance.
_ROOMY_ALPHABETS = (8, 10, 16, 26, 32, 36, 64, 85, 95, 128, 256)
# A character that repeats this often in its position does not do so by chance.
_AGAIN = 4
# Three values give two steps; equal steps are no coincidence.
_TWO_STEPS = 3
_HEXADECIMAL = "0123456789abcdef"
_OF_BASE64 = frozenset(f"{string.ascii_letters}{string.digits}-_+/=")
_BEYOND_BASE64 = 65
_BASE64URL = f"{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}-_"


def apparent_bits(samples: Sequence[str]) -> float:
    """Estimated entropy of the samples in bits, from the variation in each position.

    A position that varies as much as its alphabet allows counts in full; one with less variation counts for
    the characters seen. Constant prefixes and repeated values count nothing. 32 samples are enough to
    distinguish the sixteen values of a hexadecimal digit from the four of a UUID variant digit.
    """
    return _bits(_columns(samples), len(samples))


def bits_within(groups: Sequence[Sequence[str]]) -> float | None:
    """The same without parts that are constant in every group; None if the groups are too small.

    A constant of one install differs between installs and looks random over many of them. It may be anywhere.
    Positions are counted from both ends, because a number between two such parts may grow longer.
    """
    if sum(len(group) - 1 for group in groups) < _AGAIN:
        return None
    return min(_left_in(part) for part in (_trimmed(groups), _trimmed(_reversed(groups))))


def max_bits(samples: Sequence[str]) -> float:
    """An upper bound of the entropy of a few samples: every position that varies counts in full.

    Eight samples of a character with two bits often show only three of its four values; that must not count
    against the generator. A constant version digit still counts nothing.
    """
    columns = _columns(samples)
    return sum(math.log2(_alphabet(columns)) for column in columns if len(column) > 1)


def has_fewer_bits_than(bits: int, samples: Sequence[str]) -> bool:
    """True if no generator of such values has this many bits, even if every position counts in full.

    With fourteen samples of any alphabet that is judged here, no position of a generator stays constant by
    chance. A position that only some samples have counts like any other. One bit less is not detected:
    numbers of 256 bits have a 78th decimal digit, but seldom.
    """
    columns = list(map(set, zip_longest(*samples, fillvalue="")))
    varying = [column for column in columns if len(column) > 1]
    seen = set().union(*varying) - {""}
    # Only 64 letters of an alphabet of 70 may occur, but they are not those of base64.
    letters = len(seen) if seen <= _OF_BASE64 else max(len(seen), _BEYOND_BASE64)
    if 1 < letters < _ROOMY_ALPHABETS[0] or letters > _ROOMY_ALPHABETS[-1]:
        return False
    size = next(each for each in (1, *_ROOMY_ALPHABETS) if each >= letters)
    return len(varying) * math.log2(size) < bits - 1


def _trimmed(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cuts off as many first and last characters as are constant within every group."""
    several = [group for group in groups if len(group) > 1]
    begins, ends = min(map(_common_prefix, several)), min(map(_common_prefix, _reversed(several)))
    return [[sample[begins : max(begins, len(sample) - ends)] for sample in group] for group in groups]


def _common_prefix(group: Sequence[str]) -> int:
    """How many first characters are equal in the whole group."""
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
    """The characters seen in each position that at least half of the samples have.

    Decimal numbers are sometimes a digit shorter; that does not reduce their entropy.
    """
    length = sorted(map(len, samples))[len(samples) // 2]
    return [set(column) - {""} for column in islice(zip_longest(*samples, fillvalue=""), length)]


def _alphabet(columns: Sequence[set[str]]) -> int:
    """The apparent size of the generator's alphabet; one if nothing varies."""
    letters: set[str] = set().union(*(column for column in columns if len(column) > 1))
    return next((size for size in (1, *_ALPHABETS) if size >= len(letters)), len(letters))


def decoded(samples: Sequence[str]) -> list[str]:
    """Removes encodings of text from the samples, also nested ones: they only make samples longer.

    Random octets are hardly ever text. So if all samples decode to text, the text was encoded. A common
    prefix such as `v1.` is skipped first.
    """
    for unmarked in _without_mark(samples):
        for decode in (_octets, bytes.fromhex, _of_base32):
            inner = _texts(unmarked, decode)
            if inner is not None:
                return decoded(inner)
    return list(samples)


def _without_mark(samples: Sequence[str]) -> Iterator[list[str]]:
    """The samples, then the samples without their common prefix up to each separator in it."""
    yield list(samples)
    shared = samples[0][: _common_prefix(samples)] if len(set(samples)) > 1 else ""
    for place, char in enumerate(shared, 1):
        if not char.isalnum():
            yield [sample[place:] for sample in samples]


def steady_steps(samples: Sequence[str]) -> bool:
    """True if the values, read as numbers, increase in equal steps.

    A counter that is multiplied by a constant varies in every position, and is still easy to guess.
    """
    if len(samples) < _TWO_STEPS:
        return False
    hexadecimal = [sample.replace("-", "").lower() for sample in samples]
    base64url = [sample.rstrip("=") for sample in samples]
    return _steady(hexadecimal, _HEXADECIMAL) or _steady(base64url, _BASE64URL)


def _texts(samples: Sequence[str], decode: Callable[[str], bytes]) -> list[str] | None:
    """The decoded samples; None unless all of them are text."""
    try:
        inner = [decode(sample).decode("ascii") for sample in samples]
    except ValueError:
        return None
    return inner if all(text and text.isprintable() for text in inner) else None


def _steady(texts: Sequence[str], alphabet: str) -> bool:
    """Tests the part that varies as one number; this does not work next to random parts."""
    (parts,) = _trimmed([texts])
    try:
        numbers = [_number(part, alphabet) for part in parts]
    except ValueError:
        return False
    # A multiplied counter wraps around at a word size, which may end inside the first character.
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
