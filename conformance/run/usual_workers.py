"""The default number of workers: of a run, and of a proof."""

from __future__ import annotations

import os
import re
from math import inf
from pathlib import Path

# Workers for each processor; trials mostly wait, those of services nearly all the time.
WORKERS_A_PROCESSOR = {"gateway": 12, "service": 20, "agent": 8}
# Memory of a worker with its processes, and the share of free memory that may be used.
_A_WORKER_MB, _SHARE = 300, 0.75
MOST = 64
# A run with fewer checks than these has one worker.
_FEW, _MOST_OF_A_RUN = 100, 8
# If each worker has its own target. Half of the workers of a gateway begin with checks that mostly wait; a
# service may have to be waited for in most of the time.
_WITH_OWN_TARGETS = {"gateway": 2, "service": 4}
# Where Linux shows the limits of a container.
_CONTAINER = Path("/sys/fs/cgroup")


def workers_of_a_run(checks: int, role: str, *, own_targets: bool) -> int:
    """One worker for each processor, or more if each worker has its own target.

    One for few checks, which take less time than to start another.
    """
    by_processors = round(_processors() * (_WITH_OWN_TARGETS[role] if own_targets else 1))
    return 1 if checks < _FEW else max(1, min(by_processors, _by_memory(), _MOST_OF_A_RUN))


def workers_of_a_proof(role: str) -> int:
    """The number of workers for the processors and the free memory of this machine."""
    by_processors = int(WORKERS_A_PROCESSOR[role] * _processors())
    return max(1, min(by_processors, _by_memory(), MOST))


def _by_memory() -> int:
    return int(min(_SHARE * _free_mb() / _A_WORKER_MB, MOST))


def _processors() -> float:
    """The processors that this process may use, or the share of its container."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _said_by(_CONTAINER / "cpu.max").partition(" ")
    return min(there, int(quota) / int(period)) if quota.isdecimal() and period.isdecimal() else there


def _free_mb() -> float:
    """The memory that is available without swapping; infinite if unknown."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _said_by(Path("/proc/meminfo")), re.MULTILINE)
    free = int(found[1]) / 1024 if found else inf
    most, used = _said_by(_CONTAINER / "memory.max"), _said_by(_CONTAINER / "memory.current")
    return min(free, (int(most) - int(used)) / 2**20) if most.isdecimal() and used.isdecimal() else free


def _said_by(file: Path) -> str:
    """The content of a system file; empty if there is none."""
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
