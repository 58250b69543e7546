"""The further origins that a target file lets a run talk to."""

from __future__ import annotations

from gateproof.conformance.targets.model import Reach
from gateproof.conformance.wire.route import Place, origin


def further_places(reach: Reach) -> tuple[Place, ...]:
    """They trust the same CA as the target, and get none of its headers and no client certificate."""
    if not reach.origins:
        return ()
    ca_file = str(reach.ca_file) if reach.ca_file else None
    return (Place(origins=frozenset(map(origin, reach.origins)), ca_file=ca_file),)
