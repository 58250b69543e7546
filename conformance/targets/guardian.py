"""A small process that outlives this one for a moment, and cleans up if this one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

# Two guardians would end what the other one watches.
_STARTING = threading.Lock()
_PROGRAM = Path(__file__).with_name("guardian_process.py")


class Guardian:
    """Knows the process groups that were launched and not yet ended, and the temporary folders."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C must not reach it.
            start_new_session=True,
        )

    def watch(self, group: int, mark: str) -> None:
        """From now on this group ends with this process, and all with the mark in their environment."""
        self._tell("watch", str(group), mark)

    def forget(self, group: int) -> None:
        """The group has ended, and its number may belong to another one."""
        self._tell("forget", str(group))

    def add_folder(self, folder: Path) -> None:
        self._tell("folder", str(folder))

    def drop_folder(self, folder: Path) -> None:
        self._tell("removed", str(folder))

    def _tell(self, *fields: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            # Tasks are far shorter than what a pipe takes at once, so that threads do not mix them.
            os.write(self._process.stdin.fileno(), b"\0".join(map(os.fsencode, fields)) + b"\0\0")
        except OSError:
            # Somebody has killed it. This process still cleans up after itself.
            return


def guardian() -> Guardian:
    """The guardian of this process, which starts at the first use."""
    with _STARTING:
        return _guardian()


@cache
def _guardian() -> Guardian:
    return Guardian()
