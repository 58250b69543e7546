"""Starts the target, waits until it is ready, and stops it with all processes that it started."""

from __future__ import annotations

import atexit
import os
import secrets
import signal
import subprocess
import threading
import time
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from gateproof.conformance.targets.forks import Fork, runner_of
from gateproof.conformance.targets.guardian import guardian
from gateproof.conformance.targets.guardian_process import kill_marked
from gateproof.conformance.targets.output import Output
from gateproof.conformance.targets.processes import (
    ended_within,
    exit_text,
    group_lives,
    signal_group,
    why_not_started,
)
from gateproof.conformance.targets.readiness import accepts_connections, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

    from gateproof.conformance.targets.model import Launch

_GRACE_S = 5.0
_POLL_S = 0.02
# Identifies the processes of one launch.
_MARK = "GATEPROOF_LAUNCH"
_running: weakref.WeakSet[Running] = weakref.WeakSet()
# Of _running, and of the one signal that a group gets; threads may start and stop targets.
_RUNNING_LOCK = threading.RLock()


class LaunchFailed(Exception):
    """The target could not be started. Its last lines may contain credentials, so the text omits them."""

    def __init__(self, what: str, *, exit_code: int | None = None, last_lines: str = "") -> None:
        self.exit_code = exit_code
        self.last_lines = last_lines
        super().__init__(what)


class Running:
    """A started target; leaving the context stops its whole process group."""

    def __init__(self, process: subprocess.Popen[bytes] | Fork, output: Output, mark: str) -> None:
        self._process = process
        self._output = output
        # A variable in the environment of all its processes.
        self._mark = mark
        self._group_is_owned = True
        self._cleared_away = False
        with _RUNNING_LOCK:
            _running.add(self)
        guardian().watch(process.pid, mark)

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

    def how_it_ended(self) -> str:
        """How the target ended, if none of its processes is left; else an empty text."""
        code = self.exit_code()
        return "" if code is None or group_lives(self.pid) else exit_text(code)

    def end_input(self) -> None:
        """Closes the target's stdin: there will be no input."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    @property
    def dropped(self) -> int:
        """How many bytes were dropped because the file was full."""
        return self._output.dropped

    def wait(self, timeout_s: float) -> int | None:
        """Waits for the target to end by itself; None if the time is over first."""
        if self._process.returncode is None and not self._ended_within(timeout_s):
            return None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self.exit_code()

    def _ended_within(self, timeout_s: float) -> bool:
        if isinstance(self._process, Fork):
            return self._process.ended_within(timeout_s)
        return ended_within(self.pid, timeout_s)

    @property
    def printed(self) -> int:
        """How many bytes it has printed so far, as an offset for output_since."""
        return self._output.kept

    def output(self) -> str:
        return self._output.since(0)

    def output_since(self, offset: int) -> str:
        return self._output.since(offset)

    def last_lines(self) -> str:
        return self._output.last_lines()

    def ask_to_end(self, timeout_s: float, number: int = signal.SIGTERM) -> bool:
        """Asks the whole process group to end, and waits for it; False if a process is left.

        A shell that runs the target ends at once, while the target may still be cleaning up: so the whole
        group counts. A helper process that does not end makes this wait the full time.
        """
        return self._wait_for_group(timeout_s, number)

    def stop(self) -> None:
        """Asks the whole process group to end, and kills it after a grace period; may be called twice."""
        try:
            self._terminate()
        finally:
            # Also after Ctrl-C during the grace period.
            self._kill()

    def clear_away(self) -> None:
        """Kills the remaining processes of a target that has ended or was asked to end."""
        self._kill()

    def _terminate(self) -> None:
        if not self._group_is_owned:
            return
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._wait_for_group(_GRACE_S)

    def _wait_for_group(self, timeout_s: float, number: int = signal.SIGTERM) -> bool:
        """Sends a signal to the group; True as soon as no process of it is left."""
        deadline = time.monotonic() + timeout_s
        alive = signal_group(self.pid, number)
        while alive and time.monotonic() < deadline:
            self._process.poll()
            alive = group_lives(self.pid)
            if alive:
                time.sleep(_POLL_S)
        return not alive

    def _kill(self) -> None:
        """Kills the remaining processes.

        The group gets its signal once only: later, its number may belong to another group. A process that
        left the group is known by its environment.
        """
        if self._cleared_away:
            return
        with _RUNNING_LOCK:
            if self._group_is_owned:
                signal_group(self.pid, signal.SIGKILL)
                self._group_is_owned = False
                guardian().group_ended(self._mark)
        kill_marked({self._mark.encode()})
        self._cleared_away = True
        guardian().forget(self._mark)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._output.wait(2.0)
        with _RUNNING_LOCK:
            _running.discard(self)


@atexit.register
def stop_all() -> None:
    """Stops every target that was launched by this process."""
    with _RUNNING_LOCK:
        found = list(_running)
    for running in found:
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
    """Starts the target and waits until `ready_url` or else `ready` says that it is ready.

    Without either, as for agents, it does not wait.
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
    output, mark = Output(output_file), secrets.token_hex(8)
    try:
        process = _started(spec, output.pipe, {**env, _MARK: mark})
    except OSError as error:
        raise LaunchFailed(
            f"cannot launch the target: {why_not_started(spec.command, spec.cwd, error)}"
        ) from None
    finally:
        output.start()
    return Running(process, output, f"{_MARK}={mark}")


def _started(spec: Launch, output: int, env: Mapping[str, str]) -> subprocess.Popen[bytes] | Fork:
    """The process, with a pipe as stdin that stays open: a target that watches it ends with the harness."""
    if runner := runner_of(spec.command):
        try:
            return Fork(runner, spec.command[len(runner) :], cwd=spec.cwd, env=env, output=output)
        except OSError:
            raise LaunchFailed("cannot launch the target: the process that forks it has ended") from None
    return subprocess.Popen(
        spec.command,
        cwd=spec.cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


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
