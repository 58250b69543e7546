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
from gateproof.conformance.run.prepare.fork_server import restarted_fast
from gateproof.conformance.run.prepare.gateway import CannotRun, addresses_of, launch_gateway, with_free_ports
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.targets.guardian import guardian
from gateproof.conformance.targets.launch import LaunchFailed, Running
from gateproof.conformance.targets.model import GatewayTarget
from gateproof.conformance.targets.readiness import accepts_connections

# How long the addresses of a killed target may still accept connections.
_GONE_WITHIN_S = 5.0
# A restart during a run may take this many times as long as the first start.
_PATIENCE = 4


class InstanceBench(Protocol):
    """The part of the instance's bench that is used here."""

    def anew(self) -> World:
        """A world for the check that is running."""
        ...

    def close_connections(self) -> None:
        """Closes the connections to the target."""
        ...

    def close(self) -> None: ...


class OwnInstance:
    """The instance, with its own bench; its exchanges belong to the check that is running.

    If it does not start at all, or not in time, it is not tried again.
    """

    def __init__(
        self, context: GatewayContext, open_bench: Callable[[GatewayContext], InstanceBench]
    ) -> None:
        self._lost = ""
        self.discarded = False
        self._ca_file = Path(context.ca_file)
        self._bench: InstanceBench | None = None
        self._stack = ExitStack()
        keeper = guardian()
        with ExitStack() as starting:
            folder = TemporaryDirectory(prefix="gateproof-instance-", ignore_cleanup_errors=True)
            self._folder = Path(starting.enter_context(folder))
            keeper.add_folder(self._folder)
            starting.callback(keeper.drop_folder, self._folder)
            try:
                self.target = self._own(context.target, starting)
                self._running = self._started(starting)
            except (CannotRun, LaunchFailed, OSError) as failure:
                self._lost = f"a further instance did not start: {failure}"
                return
            self._bench = open_bench(
                replace(
                    context, target=self.target, clock_offset_s=0.0, merchant_failed_at=None, registrations=0
                )
            )
            self._stack = starting.pop_all()

    def world(self) -> World:
        return self._usable_bench().anew()

    def kill_and_start(self) -> str:
        self._usable_bench().close_connections()
        self._running.clear_away()
        until = time.monotonic() + _GONE_WITHIN_S
        while any(accepts_connections(*each) for each in addresses_of(self.target)):
            if time.monotonic() > until:
                self._lost = "killing what was launched does not end the target, which still listens"
                raise Unavailable("restart", self._lost)
            time.sleep(0.05)
        try:
            self._running = self._started(self._stack)
        except LaunchFailed as failure:
            if failure.exit_code is None:
                self._lost = f"it did not start again after it was killed: {failure}"
                raise Unavailable("restart", self._lost) from failure
            self.discard()
            return str(failure)
        return ""

    def discard(self) -> None:
        self.discarded = True

    def close(self) -> None:
        if self._bench is not None:
            self._bench.close()
            # Killed: nothing depends on a clean shutdown.
            self._running.clear_away()
        self._stack.close()

    def _usable_bench(self) -> InstanceBench:
        if self._bench is None or self._lost:
            raise Unavailable("restart", self._lost)
        return self._bench

    def _own(self, target: GatewayTarget, stack: ExitStack) -> GatewayTarget:
        own = (
            with_a_state_file(target, self._folder / "state", stack)
            if target.file is None
            else with_free_ports(target, stack)
        )
        launch = own.launch
        if launch is None:
            return own
        # The embedded gateway is restarted often, and loading its modules takes longer than all of its work.
        command = restarted_fast(launch.command, stack) if target.file is None else launch.command
        return replace(own, launch=replace(launch, command=command, timeout_s=_PATIENCE * launch.timeout_s))

    def _started(self, stack: ExitStack) -> Running:
        return launch_gateway(self.target, self._folder / "target.log", self._ca_file, stack)
