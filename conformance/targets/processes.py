"""Starts external programs in a process group of their own, and ends the whole group."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PROCESSES = Path("/proc")
# States of zombies and dead processes.
_ENDED = {"Z", "X", "x"}


class CommandFailed(Exception):
    """A command could not be run, did not end in time, or printed too much."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """The result of a command that ended by itself."""

    exit_code: int
    stdout: bytes


def exit_text(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


def why_not_started(command: Sequence[str], cwd: Path, error: OSError) -> str:
    """Why a program did not start, without its arguments: they may contain secrets."""
    if not cwd.is_dir():
        return f"the folder {cwd} does not exist"
    if isinstance(error, FileNotFoundError):
        return f"no program {command[0]}"
    if isinstance(error, PermissionError):
        return f"{command[0]} is not executable"
    return f"{command[0]}: {error.strerror}"


def ended_within(child: int, timeout_s: float) -> bool:
    """Waits for a child of this process to end; False if the time is over first.

    The kernel tells; subprocess would ask again and again. Without pidfd_open(), this returns True at once.
    """
    if not hasattr(os, "pidfd_open"):
        return True
    try:
        told = os.pidfd_open(child)
    except OSError:
        # Not in this kernel or sandbox.
        return True
    try:
        poll = select.poll()
        poll.register(told, select.POLLIN)
        return bool(poll.poll(1000 * timeout_s))
    finally:
        os.close(told)


def signal_group(group: int, number: int) -> bool:
    """Sends a signal to a process group; False if it has no process any more."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        # macOS returns EPERM for a group in which only zombies are left.
        return False
    return True


def group_lives(group: int) -> bool:
    """True while a process of the group runs; zombies do not count.

    In many containers no process reaps orphans, so zombies stay. Without /proc, zombies count as running.
    """
    if not signal_group(group, 0):
        return False
    # The first process of a group has its number. Looking at it alone is much cheaper than at all of them.
    if any(of == group and state not in _ENDED for state, of in _states(_PROCESSES / str(group))):
        return True
    states = {state for state, of in _processes() if of == group}
    return not states or bool(states - _ENDED)


def _processes() -> Iterator[tuple[str, int]]:
    """State and process group of every process."""
    for entry in _PROCESSES.iterdir() if _PROCESSES.is_dir() else ():
        if entry.name.isdecimal():
            yield from _states(entry)


def _states(process: Path) -> Iterator[tuple[str, int]]:
    """State and process group of the process with this folder; nothing if there is none."""
    with contextlib.suppress(OSError):
        # The program name is in parentheses and may contain any character.
        state, _, group = (process / "stat").read_text("latin-1").rpartition(")")[2].split()[:3]
        yield state, int(group)


def run_command(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: bytes,
    timeout_s: float,
    limit: int,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Runs a command that reads stdin and writes stdout; no process of its group outlives this call."""
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise CommandFailed(why_not_started(command, cwd, error)) from None
    with process:
        try:
            return _exchange(process, stdin, time.monotonic() + timeout_s, limit)
        except TimeoutError:
            raise CommandFailed(f"{command[0]} did not end within {timeout_s:g} s") from None
        except OverflowError:
            raise CommandFailed(f"{command[0]} printed more than {limit} bytes") from None
        finally:
            signal_group(process.pid, signal.SIGKILL)


def _exchange(process: subprocess.Popen[bytes], stdin: bytes, deadline: float, limit: int) -> Finished:
    """Writes stdin and reads stdout at the same time, until the command has ended.

    A grandchild may hold stdout open. So after the command has ended, only what is already in the pipe is
    read.
    """
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
    said = bytearray()
    left = memoryview(stdin)
    os.set_blocking(process.stdin.fileno(), False)
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdin, selectors.EVENT_WRITE)
        selector.register(process.stdout, selectors.EVENT_READ)
        ended = False
        while True:
            ready = selector.select(0 if ended else 0.02)
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    left = _feed(process.stdin.fileno(), left)
                    done = not left
                else:
                    chunk = os.read(process.stdout.fileno(), 65536)
                    said += chunk
                    done = not chunk
                if done:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
            if len(said) > limit:
                raise OverflowError
            drained = not any(key.fileobj is process.stdout for key, _ in ready)
            if ended and drained:
                return Finished(exit_code=process.returncode, stdout=bytes(said))
            ended = process.poll() is not None
            if time.monotonic() > deadline:
                raise TimeoutError


def _feed(pipe: int, left: memoryview) -> memoryview:
    """Writes as much as the pipe takes; gives up if the command has closed its stdin."""
    try:
        return left[os.write(pipe, left[:65536]) :]
    except BrokenPipeError:
        return left[:0]
