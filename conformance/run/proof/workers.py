"""How many trials of a proof run at a time, unless somebody says so."""

from __future__ import annotations

import os
import re
from math import inf
from pathlib import Path

# Most of a trial is waiting, for a service nearly all of it: so many for each processor.
_A_PROCESSOR = {"gateway": 5, "service": 12, "agent": 5}
# What a worker and what it started may take of the memory that is free; one in four stays free.
_A_WORKER_MB, _SHARE = 300, 0.75
MOST = 64
# Where Linux says what a container may take.
_CONTAINER = Path("/sys/fs/cgroup")


def usual_workers(role: str) -> int:
    """As many as the processors and the free memory of this machine are good for."""
    by_processors = int(_A_PROCESSOR[role] * _processors())
    by_memory = int(_SHARE * _free_mb() / _A_WORKER_MB)
    return max(1, min(by_processors, by_memory, MOST))


def _processors() -> float:
    """Those that this process may use, or the share of them that its container is given."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _said_by(_CONTAINER / "cpu.max").partition(" ")
    return min(there, int(quota) / int(period)) if quota.isdecimal() and period.isdecimal() else there


def _free_mb() -> float:
    """What can be had without swapping, caches included; where nobody says so, plenty."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _said_by(Path("/proc/meminfo")), re.MULTILINE)
    free = int(found[1]) / 1024 if found else inf
    most, used = _said_by(_CONTAINER / "memory.max"), _said_by(_CONTAINER / "memory.current")
    return min(free, (int(most) - int(used)) / 2**20) if most.isdecimal() and used.isdecimal() else free


def _said_by(file: Path) -> str:
    """What the system says in a file of its own; nothing where it has none."""
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
