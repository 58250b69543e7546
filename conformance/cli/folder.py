"""Locks the output folder of a command, so that no other command writes there."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Creates the folder and locks it inside the block; raises ValueError if that is not possible.

    Two commands that write the same record would read each other's results.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".gateproof-probe"
        probe.touch()
        probe.unlink()
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        expected = "expected a folder that can be written"
        raise ValueError(f"--out {folder}: {problem.strerror}; {expected}") from problem
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"--out {folder}: another gateproof is writing there; choose another folder"
            ) from None
        yield
    finally:
        os.close(held)
