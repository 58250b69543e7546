"""The target is started, waited for, and stopped with everything that it started itself."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from gateproof.conformance.targets.output import Output
from gateproof.conformance.targets.processes import exit_text, group_lives, signal_group, why_not_started
from gateproof.conformance.targets.readiness import accepts_connections, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from gateproof.conformance.targets.model import Launch

_GRACE_S = 5.0
_POLL_S = 0.02
_running: weakref.WeakSet[Running] = weakref.WeakSet()


class LaunchFailed(Exception):
    """The target could not be started; its last lines may hold credentials, so they stay out of the text."""

    def __init__(self, what: str, *, exit_code: int | None = None, last_lines: str = "") -> None:
        self.exit_code = exit_code
        self.last_lines = last_lines
        super().__init__(what)


class Running:
    """A started target; leaving the context stops it, its children and their children."""

    def __init__(self, process: subprocess.Popen[bytes], output: Output) -> None:
        self._process = process
        self._output = output
        self._group_is_ours = True
        _running.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """The exit code of a target that has ended, else None."""
        return self._process.poll()

    def end_input(self) -> None:
        """From here on the target reads the end of its stdin: nobody will type anything."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    @property
    def dropped(self) -> int:
        """How many bytes were printed after there was room to keep them."""
        return self._output.dropped

    def wait(self, timeout_s: float) -> int | None:
        """Waits for a target that ends by itself; None when the time was up first."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self.exit_code()

    @property
    def printed(self) -> int:
        """How much it has printed so far, as an offset for output_since."""
        return self._output.kept

    def output(self) -> str:
        return self._output.since(0)

    def output_since(self, offset: int) -> str:
        return self._output.since(offset)

    def last_lines(self) -> str:
        return self._output.last_lines()

    def ask_to_end(self, timeout_s: float) -> bool:
        """Asks the whole group to end, and waits until it has, as long as it may take; False when it has not.

        A shell that runs the target dies at once, and leaves a target that still clears up. Whoever keeps a
        helper in the group that does not end is waited for in vain, this once.
        """
        return self._all_end(timeout_s)

    def stop(self) -> None:
        """Asks the whole group to end, and ends it after a grace; a second call does nothing."""
        try:
            self._ask()
        finally:
            # Also on the way out of a Ctrl-C during the grace.
            self._kill()

    def clear_away(self) -> None:
        """Kills what is left of a target that has ended, or was asked to; nobody is asked any more."""
        self._kill()

    def _ask(self) -> None:
        if not self._group_is_ours:
            return
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._all_end(_GRACE_S)

    def _all_end(self, timeout_s: float) -> bool:
        """Asks every process of the group to end; True as soon as nothing of it is left."""
        deadline = time.monotonic() + timeout_s
        alive = signal_group(self.pid, signal.SIGTERM)
        while alive and time.monotonic() < deadline:
            self._process.poll()
            alive = group_lives(self.pid)
            if alive:
                time.sleep(_POLL_S)
        return not alive

    def _kill(self) -> None:
        """Kills what is left. Once done, never again: the number may belong to somebody else by then."""
        if not self._group_is_ours:
            return
        signal_group(self.pid, signal.SIGKILL)
        self._group_is_ours = False
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._output.wait(2.0)
        _running.discard(self)


@atexit.register
def _stop_all() -> None:
    for running in list(_running):
        running.stop()


def launch(
    spec: Launch,
    *,
    output_file: Path,
    ready: Callable[[], bool] | None = None,
    addresses: Iterable[tuple[str, int]] = (),
    env_extra: Mapping[str, str] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Running:
    """Starts the target and waits until it is ready: until its ready_url, or else `ready`, says so.

    Without either it is taken as it starts, as an agent is.
    """
    expected = list(addresses)
    for host, port in expected:
        if accepts_connections(host, port):
            raise LaunchFailed(f"{host}:{port} already answers before the launch: something else runs there")
    running = _start(spec, output_file, {**environ, **(env_extra or {}), **spec.env})
    ready_url = spec.ready_url
    try:
        if ready_url is not None:
            _wait(running, spec, lambda: answers(ready_url), ready_url)
        elif ready is not None:
            _wait(running, spec, ready, ", ".join(f"{host}:{port}" for host, port in expected))
    except BaseException:
        running.stop()
        raise
    return running


def _start(spec: Launch, output_file: Path, env: Mapping[str, str]) -> Running:
    output = Output(output_file)
    try:
        process = subprocess.Popen(
            spec.command,
            cwd=spec.cwd,
            env=env,
            # A pipe that stays open: a target that watches its stdin ends when the harness does.
            stdin=subprocess.PIPE,
            stdout=output.pipe,
            stderr=output.pipe,
            start_new_session=True,
        )
    except OSError as error:
        raise LaunchFailed(
            f"cannot launch the target: {why_not_started(spec.command, spec.cwd, error)}"
        ) from None
    finally:
        output.start()
    return Running(process, output)


def _wait(running: Running, spec: Launch, ready: Callable[[], bool], where: str) -> None:
    deadline = time.monotonic() + spec.timeout_s
    pause = _POLL_S
    while True:
        code = running.exit_code()
        if code is not None:
            running.stop()
            what = f"the target ended before it was ready: {exit_text(code)}"
            raise LaunchFailed(what, exit_code=code, last_lines=running.last_lines())
        if ready():
            return
        if time.monotonic() > deadline:
            running.stop()
            silent = f": no answer at {where}" if where else ""
            what = f"the target was not ready within {spec.timeout_s:g} s{silent}"
            raise LaunchFailed(what, last_lines=running.last_lines())
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
