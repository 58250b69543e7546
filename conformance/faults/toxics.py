"""Toxics as data: what can happen to the octets of a connection; names as in Toxiproxy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# The longest delay that a check may cause.
LONGEST_S = 60.0


class Way(StrEnum):
    """A direction of a connection, seen from the client."""

    THERE = "there"
    BACK = "back"


class Kind(StrEnum):
    """What a toxic does to its direction."""

    DOWN = "down"
    LATENCY = "latency"
    BANDWIDTH = "bandwidth"
    SLICE = "slice"
    TIMEOUT = "timeout"
    RESET = "reset"
    CLOSE = "close"
    HALF_CLOSE = "half-close"
    LIMIT = "limit"


# These end a connection or one direction of it; the others only delay it.
ENDS = frozenset({Kind.TIMEOUT, Kind.RESET, Kind.CLOSE, Kind.HALF_CLOSE})


@dataclass(frozen=True, kw_only=True, slots=True)
class Toxic:
    """One effect on one direction.

    Toxics that end a connection do so at the first octet beyond `after`, which is not forwarded. With
    `asked`, counting begins after the request was sent, so a TLS handshake is not affected.
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
    """Every connection is reset before any octet passes.

    A closed port would refuse connections as well, but they could not be counted.
    """
    return Toxic(kind=Kind.DOWN)


def latency(seconds: float, *, jitter_s: float = 0.0, way: Way = Way.BACK) -> Toxic:
    """Delays all octets by this time."""
    return Toxic(kind=Kind.LATENCY, way=way, seconds=seconds, jitter_s=jitter_s)


def bandwidth(octets_a_second: int, *, way: Way = Way.BACK) -> Toxic:
    return Toxic(kind=Kind.BANDWIDTH, way=way, octets=octets_a_second)


def sliced(octets: int, *, pause_s: float = 0.0, way: Way = Way.BACK) -> Toxic:
    """Forwards octets in pieces of this size."""
    return Toxic(kind=Kind.SLICE, way=way, octets=octets, seconds=pause_s)


def timeout(seconds: float, *, way: Way = Way.BACK, after: int = 0, asked: bool = False) -> Toxic:
    """Forwards nothing; resets the connection after this time."""
    return Toxic(kind=Kind.TIMEOUT, way=way, after=after, asked=asked, seconds=seconds)


def reset(*, way: Way = Way.BACK, after: int = 0, asked: bool = False) -> Toxic:
    return Toxic(kind=Kind.RESET, way=way, after=after, asked=asked)


def closed(*, way: Way = Way.BACK, asked: bool = False) -> Toxic:
    """Closes the connection normally before any octet passes."""
    return Toxic(kind=Kind.CLOSE, way=way, asked=asked)


def truncated(after: int, *, way: Way = Way.BACK, asked: bool = False) -> Toxic:
    """Closes the connection normally after this many octets."""
    return Toxic(kind=Kind.CLOSE, way=way, after=after, asked=asked)


def half_closed(*, way: Way = Way.BACK, after: int = 0, asked: bool = False) -> Toxic:
    """Closes one direction normally; the other one stays open."""
    return Toxic(kind=Kind.HALF_CLOSE, way=way, after=after, asked=asked)


def limited(octets: int) -> Toxic:
    """Closes the connection normally after this many octets in both directions together."""
    return Toxic(kind=Kind.LIMIT, octets=octets)
