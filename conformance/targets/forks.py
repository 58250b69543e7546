"""Starts a target as a fork: without the small program that asks a fork server for it.

A proof launches thousands of agents, and starting an interpreter takes longer than forking one of them.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gateproof.forks.server import ADDRESS

_ANSWERS_S = 30.0
# A socket's path has at most 107 bytes on Linux and 103 on macOS.
_LONGEST_PATH = 100
# The command before a module for each known server; its last word is the server's folder.
_runners: set[tuple[str, ...]] = set()


def know(runner: tuple[str, ...]) -> None:
    """From now on, targets with a command that begins with these words are forked directly."""
    if hasattr(socket, "send_fds") and len(os.fsencode(_place_of(runner))) <= _LONGEST_PATH:
        _runners.add(runner)


def runner_of(command: Sequence[str]) -> tuple[str, ...] | None:
    """The known words with which this command begins."""
    return next((each for each in _runners if tuple(command[: len(each)]) == each), None)


class Fork:
    """A module that runs in a fork, with the part of subprocess.Popen that a launch needs.

    It is no child of this process. The server says its process number, and in the end its exit code; the
    server kills it if this connection is closed before.
    """

    def __init__(
        self,
        runner: tuple[str, ...],
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        output: int,
    ) -> None:
        module, *others = arguments
        call = ascii([module, others, str(cwd), dict(env)]).encode() + b"\n"
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.returncode: int | None = None
        source, sink = os.pipe()
        self.stdin = os.fdopen(sink, "wb", 0)
        try:
            self._server.settimeout(_ANSWERS_S)
            self._server.connect(_place_of(runner))
            sent = socket.send_fds(self._server, [call], [source, output, output])
            if sent < len(call):
                self._server.sendall(call[sent:])
            self._said = self._server.recv(64)
            while b"\n" not in self._said and (more := self._server.recv(64)):
                self._said += more
            number, found, self._said = self._said.partition(b"\n")
            if not found:
                raise ConnectionResetError("the fork server did not start it")
            self.pid = int(number)
        except BaseException:
            self.stdin.close()
            self._server.close()
            raise
        finally:
            os.close(source)

    def ended_within(self, timeout_s: float) -> bool:
        """Waits for its end; False if the time is over first."""
        until = time.monotonic() + timeout_s
        while self.returncode is None:
            poll = select.poll()
            poll.register(self._server, select.POLLIN)
            if not poll.poll(1000 * max(0.0, until - time.monotonic())):
                return False
            self._hear()
        return True

    def poll(self) -> int | None:
        """Its exit code; None if it runs."""
        self.ended_within(0.0)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Its exit code; raises TimeoutExpired like subprocess.Popen."""
        self.ended_within(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("a fork", timeout)
        return self.returncode

    def _hear(self) -> None:
        """Reads what the server says; its end without an exit code is the end of all forks."""
        with suppress(ConnectionError):
            if more := self._server.recv(64):
                self._said += more
                return
        self.returncode = int(self._said or -signal.SIGKILL)
        self._server.close()


def _place_of(runner: Sequence[str]) -> str:
    return os.path.join(runner[-1], ADDRESS)  # noqa: PTH118 - an address, for each launch
