"""A small process that outlives this one for a moment, and cleans up if this one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

# Only one per process: two guardians would end each other's processes.
_STARTING = threading.Lock()
_PROGRAM = Path(__file__).with_name("guardian_process.py")


class Guardian:
    """Keeps track of launched process groups that have not ended, and of temporary folders."""

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
        """Registers a group. It and processes with the mark in their environment end with this process."""
        self._tell("watch", str(group), mark)

    def group_ended(self, mark: str) -> None:
        """The group with this mark was killed, and its number may belong to another one."""
        self._tell("ended", mark)

    def forget(self, mark: str) -> None:
        """No process with this mark is left."""
        self._tell("forget", mark)

    def add_folder(self, folder: Path) -> None:
        self._tell("folder", str(folder))

    def drop_folder(self, folder: Path) -> None:
        self._tell("removed", str(folder))

    def _tell(self, *fields: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        try:
            # Tasks are short enough to be written atomically, so threads cannot mix them.
            os.write(self._process.stdin.fileno(), b"\0".join(map(os.fsencode, fields)) + b"\0\0")
        except OSError:
            # The guardian was killed. This process still cleans up after itself.
            return


def guardian() -> Guardian:
    """The guardian of this process, which starts at the first use."""
    with _STARTING:
        return _guardian()


@cache
def _guardian() -> Guardian:
    return Guardian()
