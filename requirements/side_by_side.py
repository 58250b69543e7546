"""Runs shell commands at the same time.

`python requirements/side_by_side.py COMMAND…` shows the output of the first command at once. That of each
other one is kept and shown after those before it have ended, so that lines of two commands do not mix. The
exit code is that of the first command in the list that failed, after all have ended.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from typing import IO

_END_S = 10.0


def main(commands: list[str]) -> int:
    if not commands:
        print("usage: side_by_side.py COMMAND…", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as stack:
        others = [_started(command, stack) for command in commands[1:]]
        # In the group of this process, so that it gets Ctrl-C, and the terminal.
        first = subprocess.Popen(commands[0], shell=True)  # noqa: S602 - a command of the Makefile
        stack.callback(_end, first, own_group=False)
        codes = [first.wait()]
        for process, output in others:
            codes.append(process.wait())
            output.seek(0)
            sys.stdout.flush()
            shutil.copyfileobj(output, sys.stdout.buffer)
    failed = next((code for code in codes if code), 0)
    return failed if failed >= 0 else 128 - failed


def _started(command: str, stack: ExitStack) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Starts a command whose output is kept; it ends with the stack, with all that it started."""
    output = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    process = subprocess.Popen(  # noqa: S602 - a command of the Makefile
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    stack.callback(_end, process, own_group=True)
    return process, output


def _end(process: subprocess.Popen[bytes], *, own_group: bool) -> None:
    if process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        for number in (signal.SIGINT, signal.SIGKILL):
            os.killpg(process.pid, number) if own_group else process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
                return


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
