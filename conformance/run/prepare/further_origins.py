"""The further origins to which a target file allows requests."""

from __future__ import annotations

from gateproof.conformance.targets.model import Reach
from gateproof.conformance.wire.route import Place, origin


def further_places(reach: Reach) -> tuple[Place, ...]:
    """The places of these origins: the same CA as the target, but no headers and no client certificate."""
    if not reach.origins:
        return ()
    ca_file = str(reach.ca_file) if reach.ca_file else None
    return (Place(origins=frozenset(map(origin, reach.origins)), ca_file=ca_file),)
