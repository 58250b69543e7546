"""Gives a worker its own copy of a service that can be started more than once, with its own world."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.prepare.service import prepare_service
from gateproof.conformance.targets.model import ServiceTarget

# A file that the first worker creates, and how long the others wait for it at most.
_FIRST_IS_READY, _AT_MOST_S, _PAUSE_S = "first-is-ready", 15.0, 0.05
# Members of the context that each worker creates itself.
_OWN = {"target", "world", "first_metadata", "copied_from"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceShare:
    """The context for a worker, without what it creates itself."""

    copied_from: Embedded | ServiceTarget
    told: Mapping[str, Any]

    def opened(self, stack: ExitStack, *, first: bool) -> ServiceContext:
        """The context with a service and a world that are closed with the stack.

        The first worker begins with the longest wait of the run, so its service is started before the others.
        """
        ready = Path(self.told["folder"]) / _FIRST_IS_READY
        try:
            if not first:
                _wait_for(ready)
            return self._opened(stack)
        finally:
            # A run that was stopped has no folder any more.
            with suppress(OSError):
                ready.touch()

    def _opened(self, stack: ExitStack) -> ServiceContext:
        # Inside the run's folder, which is removed even if the worker is killed.
        within = TemporaryDirectory(prefix="worker-", dir=self.told["folder"], ignore_cleanup_errors=True)
        folder = stack.enter_context(within)
        prepared = prepare_service(self.copied_from, Path(folder), self.told["seed"], stack)
        return replace(prepared.context, **self.told)


def share_of(context: ServiceContext) -> ServiceShare:
    """The share for a worker."""
    if context.copied_from is None:
        raise ValueError("a service without free ports cannot be copied")
    told = {each.name: getattr(context, each.name) for each in fields(context) if each.name not in _OWN}
    return ServiceShare(copied_from=context.copied_from, told=told)


def _wait_for(file: Path) -> None:
    until = time.monotonic() + _AT_MOST_S
    while not file.exists() and time.monotonic() < until:
        time.sleep(_PAUSE_S)
