"""Waiting for what other processes do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """True for a process that runs; one that waits to be reaped is as dead as any."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        # Either it has ended just now, or this system has no /proc.
        return not Path("/proc").is_dir()


def eventually(holds: Callable[[], bool], within_s: float = 20) -> bool:
    """True as soon as it holds, False if it never does within this time."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
