"""What a run against a service has to know; the world around it lives in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.targets.model import ServiceTarget
from gateproof.conformance.wire.exchange import Exchange


@dataclass(frozen=True, kw_only=True)
class ServiceContext(Context):
    """One service, asked one thing after the other as its caches are part of it, and the world around it.

    If it can be started more than once, each worker has a copy with a world of its own.
    """

    target: ServiceTarget
    world: ServiceWorld
    first_metadata: Exchange | None = None
    # What each worker can start a copy of.
    copied_from: Embedded | ServiceTarget | None = None
    # Where the run keeps what it needs for as long as it lasts.
    folder: Path | None = None
