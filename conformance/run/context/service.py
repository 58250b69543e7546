"""What a run against a service has to know; the world around it lives in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.targets.model import ServiceTarget
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.rate_limit import Pace


@dataclass(frozen=True, kw_only=True)
class ServiceContext:
    """One service, asked one thing after the other as its caches are part of it, and the world around it.

    Of the embedded one, each worker has a copy with a world of its own.
    """

    target: ServiceTarget
    world: ServiceWorld
    capabilities: frozenset[str]
    missing: Mapping[str, str] = field(default_factory=dict)
    seed: int
    run_id: str
    first_metadata: Exchange | None = None
    examples: int = 20
    # The checks that get a part of that only.
    in_passing: frozenset[str] = frozenset()
    pace: Pace | None = None
    # Where what is generated goes on for a time, instead of so many examples.
    campaign: Campaign | None = None
    replay: Mapping[str, Any] | None = None
    shows_exchanges: bool = True
    embedded: Embedded | None = None
    # Where the run keeps what it needs for as long as it lasts.
    folder: Path | None = None
