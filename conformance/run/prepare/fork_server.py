"""Starts a fork server for the reference, with which many parties can be started fast."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from gateproof.conformance.targets import forks
from gateproof.package import PYTHON_MODULE

WARM_UP = "gateproof.reference.warm_up"
_READY_S = 30.0
_END_S = 5.0
# All that have a gateway.
_MODULES = (
    "gateproof.reference.gateway",
    "gateproof.reference.defects",
    "gateproof.reference.variants",
    "gateproof.reference.mutants",
)
# The command that this worker got from the process that started it.
_given: list[tuple[str, ...]] = []


class ForkServerEnded(Exception):
    """The fork server, which starts the parties of all trials, has ended."""

    def __init__(self, how: str) -> None:
        super().__init__(f"the process that starts the reference ended ({how})")


class ForkServer:
    """Gives the command that runs a module of the reference; the server ends with the stack.

    It can run these modules, or all that have a gateway. Without fork() this is the command of a new
    interpreter.
    """

    def __init__(self, stack: ExitStack, *modules: str) -> None:
        self._process = _start(stack, modules) if hasattr(os, "fork") else None
        self.runner: tuple[str, ...] = PYTHON_MODULE
        if self._process is not None and (announced := _announced_command(self._process)):
            self.runner = announced
            forks.know(announced)

    def check(self) -> None:
        """Raises an error if the server has ended: the processes that it started have ended, too."""
        if self._process is not None and self.runner != PYTHON_MODULE and self._process.poll() is not None:
            raise ForkServerEnded(f"exit code {self._process.returncode}")


def give(runner: tuple[str, ...]) -> None:
    """Every trial of this process uses this command from now on."""
    _given[:] = [runner]
    if runner != PYTHON_MODULE:
        forks.know(runner)


def runner_here(stack: ExitStack) -> tuple[str, ...]:
    """The command that this process got, or else that of a new server."""
    return _given[0] if _given else ForkServer(stack).runner


def restarted_fast(command: tuple[str, ...], stack: ExitStack) -> tuple[str, ...]:
    """The same command through a new fork server if it starts the reference gateway; else as it is."""
    module = "gateproof.reference.gateway"
    if command[: len(PYTHON_MODULE) + 1] != (*PYTHON_MODULE, module):
        return command
    return (*ForkServer(stack, module).runner, *command[len(PYTHON_MODULE) :])


def _start(stack: ExitStack, modules: Sequence[str]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*PYTHON_MODULE, "gateproof.forks.server", "--warm-up", WARM_UP, *(modules or _MODULES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C must not reach it; its parent ends it.
        start_new_session=True,
    )
    stack.callback(_end, process)
    return process


def _announced_command(process: subprocess.Popen[bytes]) -> tuple[str, ...]:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    ready, _, _ = select.select([process.stdout], [], [], _READY_S)
    line = process.stdout.readline() if ready else b""
    return tuple(json.loads(line)) if line else ()


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(_END_S)
