"""Finds values of java.util.Random (the generator of drand48): three of its words give its state."""

from __future__ import annotations

from collections.abc import Iterable

from gateproof.conformance.kit.agent.digests import readings_of

_FACTOR, _SUMMAND, _MODULUS = 0x5DEECE66D, 0xB, 1 << 48
# Of a state of 48 bits, a word has the upper 32.
_HIDDEN_BITS = 16
_WORD, _WORDS = 4, 3


def linear_among(values: Iterable[str]) -> set[str]:
    """The values whose first octets, in hexadecimal or base64url, are words of that generator in a row."""
    return {value for value in values if any(_is_linear(octets) for octets in readings_of(value))}


def _is_linear(octets: bytes) -> bool:
    if len(octets) < _WORDS * _WORD:
        return False
    pieces = [octets[place * _WORD : (place + 1) * _WORD] for place in range(_WORDS)]
    return any(_follow(*(int.from_bytes(piece, order) for piece in pieces)) for order in ("little", "big"))


def _follow(first: int, second: int, third: int) -> bool:
    """True if some state with the first word gives the second word, and then the third."""
    state = ((first << _HIDDEN_BITS) * _FACTOR + _SUMMAND) % _MODULUS
    for _ in range(1 << _HIDDEN_BITS):
        if state >> _HIDDEN_BITS == second and _next(state) >> _HIDDEN_BITS == third:
            return True
        # The next hidden bits: the state before was larger by one.
        state = (state + _FACTOR) % _MODULUS
    return False


def _next(state: int) -> int:
    return (state * _FACTOR + _SUMMAND) % _MODULUS
