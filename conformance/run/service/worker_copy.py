"""A worker's share of a run against the embedded service: a copy of the service, in a world of its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.service import prepare_service

# What belongs to one copy, and to one process.
_OWN = {"target", "world", "first_metadata", "embedded"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceShare:
    """What a worker is told: all of the run's context but what it makes itself."""

    embedded: Embedded
    told: Mapping[str, Any]

    def opened(self, stack: ExitStack) -> ServiceContext:
        """The context with a service and a world that go away with the stack."""
        # Within the run's: who is killed leaves nothing behind.
        within = TemporaryDirectory(prefix="worker-", dir=self.told["folder"], ignore_cleanup_errors=True)
        folder = stack.enter_context(within)
        prepared = prepare_service(self.embedded, Path(folder), self.told["seed"], stack)
        return replace(prepared.context, **self.told)


def share_of(context: ServiceContext) -> ServiceShare:
    """What to tell a worker; a service that somebody else has started has no copies."""
    if context.embedded is None:
        raise ValueError("only the embedded service is there more than once")
    told = {each.name: getattr(context, each.name) for each in fields(context) if each.name not in _OWN}
    return ServiceShare(embedded=context.embedded, told=told)
