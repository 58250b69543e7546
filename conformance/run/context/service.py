"""The context of a run against a service; the world around it runs in this process."""

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
    """One service and the world around it; checks run one at a time, because they depend on its caches.

    If it can be started more than once, each worker has its own copy with its own world.
    """

    target: ServiceTarget
    world: ServiceWorld
    first_metadata: Exchange | None = None
    # The service of which each worker can start a copy.
    copied_from: Embedded | ServiceTarget | None = None
    # The run's temporary folder.
    folder: Path | None = None
