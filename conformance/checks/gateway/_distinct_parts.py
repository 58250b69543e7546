"""The parts of secrets by which they can be found: sealed values of one gateway begin alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import parse_qsl

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.wire.common_substrings import without_shared_parts
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.leaks import Canary
from gateproof.conformance.wire.route import parts_of


def distinct(world: World, canaries: Iterable[Canary]) -> list[Canary]:
    """The canaries without what they share with parameters of redirects, such as the header of a JWE.

    A parameter that holds a whole secret takes nothing away from it. Secrets are not compared with each
    other: a check may have sent one that differs from the right one in a single character.
    """
    shown = _shown(world.seen())
    return [left for each in canaries for left in without_shared_parts([each], shown)]


def _shown(exchanges: Sequence[Exchange]) -> set[str]:
    """The values of all parameters in redirects."""
    addresses = [exchange.header("Location") or "" for exchange in exchanges]
    return {value for each in addresses for _, value in parse_qsl(parts_of(each).query, errors="replace")}
