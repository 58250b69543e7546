"""What can happen to the octets of a connection, as data; the names are those that Toxiproxy gave them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# No check waits longer than this for anything that it has slowed down itself.
LONGEST_S = 60.0


class Way(StrEnum):
    """One of the two ways of a connection, seen from who opened it."""

    THERE = "there"
    BACK = "back"


class Kind(StrEnum):
    """What a toxic does to its way."""

    DOWN = "down"
    LATENCY = "latency"
    BANDWIDTH = "bandwidth"
    SLICE = "slice"
    TIMEOUT = "timeout"
    RESET = "reset"
    CLOSE = "close"
    HALF_CLOSE = "half-close"
    LIMIT = "limit"


# These end a connection, or a way of it; all others change how long it takes.
ENDS = frozenset({Kind.TIMEOUT, Kind.RESET, Kind.CLOSE, Kind.HALF_CLOSE})


@dataclass(frozen=True, kw_only=True, slots=True)
class Toxic:
    """One thing that happens on one way.

    What ends a connection does so at the first octet beyond `after`; nothing of it passes. `asked` lets the
    count begin once the request was sent, so that a TLS handshake is left alone.
    """

    kind: Kind
    way: Way = Way.BACK
    after: int = 0
    asked: bool = False
    seconds: float = 0.0
    jitter_s: float = 0.0
    octets: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.seconds <= LONGEST_S or not 0 <= self.jitter_s <= self.seconds:
            raise ValueError(
                f"{self.kind}: expected 0 to {LONGEST_S:g} seconds, and no more jitter than that"
            )
        if self.after < 0 or self.octets < (self.kind in {Kind.BANDWIDTH, Kind.SLICE}):
            raise ValueError(f"{self.kind}: expected a number of octets")


def down() -> Toxic:
    """Every connection is reset before anything passes.

    A port on which nobody listens would refuse, but nobody could count how often.
    """
    return Toxic(kind=Kind.DOWN)


def latency(seconds: float, *, jitter_s: float = 0.0, way: Way = Way.BACK) -> Toxic:
    """Whatever arrives is passed on so much later."""
    return Toxic(kind=Kind.LATENCY, way=way, seconds=seconds, jitter_s=jitter_s)


def bandwidth(octets_a_second: int, *, way: Way = Way.BACK) -> Toxic:
    return Toxic(kind=Kind.BANDWIDTH, way=way, octets=octets_a_second)


def sliced(octets: int, *, pause_s: float = 0.0, way: Way = Way.BACK) -> Toxic:
    """Whatever arrives is passed on in pieces of so many octets."""
    return Toxic(kind=Kind.SLICE, way=way, octets=octets, seconds=pause_s)


def timeout(seconds: float, *, way: Way = Way.BACK, after: int = 0, asked: bool = False) -> Toxic:
    """Nothing passes and nothing is said; after so long, the connection is reset."""
    return Toxic(kind=Kind.TIMEOUT, way=way, after=after, asked=asked, seconds=seconds)


def reset(*, way: Way = Way.BACK, after: int = 0, asked: bool = False) -> Toxic:
    return Toxic(kind=Kind.RESET, way=way, after=after, asked=asked)


def closed(*, way: Way = Way.BACK, asked: bool = False) -> Toxic:
    """The connection ends in good order, before anything passes."""
    return Toxic(kind=Kind.CLOSE, way=way, asked=asked)


def truncated(after: int, *, way: Way = Way.BACK, asked: bool = False) -> Toxic:
    """The connection ends in good order after so many octets."""
    return Toxic(kind=Kind.CLOSE, way=way, after=after, asked=asked)


def half_closed(*, way: Way = Way.BACK, after: int = 0, asked: bool = False) -> Toxic:
    """One way ends in good order, and the other stays open."""
    return Toxic(kind=Kind.HALF_CLOSE, way=way, after=after, asked=asked)


def limited(octets: int) -> Toxic:
    """The connection ends in good order once so many octets have passed on both ways together."""
    return Toxic(kind=Kind.LIMIT, octets=octets)
