"""URLs on this machine: as the gateway connects to them with `--names`, and as the harness does."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.targets.party_names import MERCHANT, host_of

_ADDRESS = "127.0.0.1"


def suffix_of(world: World) -> str:
    """The suffix of the host names of the harness's own parties; empty if they have addresses only."""
    place = world.gateway.wire.place_of(world.merchant_api or "")
    return place.own_suffix if place is not None else ""


def by_address(world: World, url: str) -> str:
    """The URL of one of the harness's own parties, as the harness connects to it."""
    return _at(url, _ADDRESS) if suffix_of(world) else url


def by_name(world: World, url: str, party: str = MERCHANT) -> str:
    """A URL on this machine as the gateway connects to it."""
    suffix = suffix_of(world)
    return _at(url, host_of(party, suffix)) if suffix else url


def _at(url: str, host: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{host}:{parts.port}").geturl()
