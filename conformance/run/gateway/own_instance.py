"""Starts an instance of a gateway for one worker, and kills and restarts it when a check asks for that."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.run.context.embedded import with_a_state_file
from gateproof.conformance.run.context.gateway import GatewayContext
from gateproof.conformance.run.prepare.gateway import CannotRun, addresses_of, launch_gateway, redrawn
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.targets.launch import LaunchFailed, Running
from gateproof.conformance.targets.model import GatewayTarget
from gateproof.conformance.targets.readiness import accepts_connections

# How long a killed target may go on accepting connections.
_GONE_WITHIN_S = 5.0


class InstanceBench(Protocol):
    """What is needed of the bench at the instance."""

    def anew(self) -> World:
        """A world for the check that is running."""
        ...

    def hang_up(self) -> None:
        """Closes the connections to a process that has ended."""
        ...

    def close(self) -> None: ...


class OwnInstance:
    """The instance, with a bench of its own; its requests belong to the check that is running."""

    def __init__(
        self, context: GatewayContext, open_bench: Callable[[GatewayContext], InstanceBench]
    ) -> None:
        self._stack = ExitStack()
        folder = TemporaryDirectory(prefix="gateproof-instance-", ignore_cleanup_errors=True)
        self._folder = Path(self._stack.enter_context(folder))
        self._ca_file = Path(context.ca_file)
        try:
            self._target = self._own(context.target)
            self._running = self._started()
        except (CannotRun, LaunchFailed) as failure:
            self._stack.close()
            raise Unavailable("restart", f"a further instance did not start: {failure}") from failure
        self._bench = open_bench(
            replace(context, target=self._target, clock_offset_s=0.0, troubled_at=None, registrations=0)
        )

    def world(self) -> World:
        return self._bench.anew()

    def kill_and_start(self) -> str:
        self._running.clear_away()
        until = time.monotonic() + _GONE_WITHIN_S
        while any(accepts_connections(*each) for each in addresses_of(self._target)):
            if time.monotonic() > until:
                return "a process of the target outlived the others, and still accepts connections"
            time.sleep(0.05)
        try:
            self._running = self._started()
        except LaunchFailed as failure:
            return str(failure)
        self._bench.hang_up()
        return ""

    def close(self) -> None:
        self._bench.close()
        self._stack.close()

    def _own(self, target: GatewayTarget) -> GatewayTarget:
        if target.file is None:
            return with_a_state_file(target, self._folder / "state", self._stack)
        return redrawn(target, self._stack)

    def _started(self) -> Running:
        return launch_gateway(self._target, self._folder / "target.log", self._ca_file, self._stack)
