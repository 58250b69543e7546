"""Starts the reference's fork server, with which many gateways can be started fast."""

from __future__ import annotations

import json
import os
import select
import subprocess
from contextlib import ExitStack, suppress

from gateproof.package import PYTHON_MODULE

_READY_S = 30.0
_END_S = 5.0


class ForkServer:
    """Gives the command that runs a module of the reference; the server ends with the stack.

    Without fork(), or if the server does not run any more, this is the command of a new interpreter.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._process = _start(stack) if hasattr(os, "fork") else None
        self._command = _said(self._process) if self._process is not None else PYTHON_MODULE

    def runner(self) -> tuple[str, ...]:
        gone = self._process is None or self._process.poll() is not None
        return PYTHON_MODULE if gone else self._command


def _start(stack: ExitStack) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*PYTHON_MODULE, "gateproof.reference.fork_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C must not reach it; its parent ends it.
        start_new_session=True,
    )
    stack.callback(_end, process)
    return process


def _said(process: subprocess.Popen[bytes]) -> tuple[str, ...]:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    ready, _, _ = select.select([process.stdout], [], [], _READY_S)
    line = process.stdout.readline() if ready else b""
    return tuple(json.loads(line)) if line else PYTHON_MODULE


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
