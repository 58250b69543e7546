"""The folder that a command writes its findings to: no other writes there meanwhile."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """Makes the folder, and keeps others out of it as long as the block lasts; raises ValueError.

    Of two that write the same record at once, one would read back what the other found.
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
                f"--out {folder}: another gateproof is writing there; give this one a folder of its own"
            ) from None
        yield
    finally:
        os.close(held)
