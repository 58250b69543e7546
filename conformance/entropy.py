"""How unguessable a series of values looks from outside."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Alphabets that generators use; what was seen is rounded up to the next, since a sample misses some letters.
_ALPHABETS = (2, 4, 8, 10, 16, 26, 32, 36, 52, 58, 62, 64)


def apparent_bits(samples: Sequence[str]) -> float:
    """The bits that the positions of the samples carry, judged by how much each varies.

    A position that varies as freely as its alphabet allows counts in full; one that varies less counts for
    what was seen of it. A constant prefix counts nothing, and neither do repeats. 32 samples are enough to
    tell the full sixteen letters of hexadecimal from the four of a version nibble.
    """
    length = min(map(len, samples))
    columns = [{sample[position] for sample in samples} for position in range(length)]
    letters = set().union(*(column for column in columns if len(column) > 1))
    if not letters:
        return 0.0
    alphabet = next((size for size in _ALPHABETS if size >= len(letters)), len(letters))
    expected = alphabet * (1 - (1 - 1 / alphabet) ** len(samples))
    return sum(math.log2(alphabet if len(column) >= expected / 2 else len(column)) for column in columns)
