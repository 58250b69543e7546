"""A process that has the reference loaded, so that many gateways can be started in little time."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from contextlib import ExitStack, suppress

_READY_S = 30.0
_END_S = 5.0


def standby(stack: ExitStack) -> tuple[str, ...]:
    """The command that runs a module of the reference; it works as long as the stack lasts.

    Where processes cannot be forked, or nobody answers, it is the plain one, which loads everything anew.
    """
    plain = (sys.executable, "-m")
    if not hasattr(os, "fork"):
        return plain
    process = subprocess.Popen(
        [*plain, "reference.standby"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C is for whoever started it, who then ends it.
        start_new_session=True,
    )
    stack.callback(_end, process)
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    ready, _, _ = select.select([process.stdout], [], [], _READY_S)
    line = process.stdout.readline() if ready else b""
    return tuple(json.loads(line)) if line else plain


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
