"""How many trials of a proof run at a time, unless somebody says so."""

from __future__ import annotations

import os

# Most of a trial is waiting, for a service nearly all of it: so many for each processor.
_A_PROCESSOR = {"gateway": 5, "service": 20, "agent": 5}
# What a worker and what it started may take of the memory that is free; one in four stays free.
_A_WORKER_MB, _SHARE = 300, 0.75
MOST = 64


def usual_workers(role: str) -> int:
    """As many as the processors and the free memory of this machine are good for."""
    by_processors = _A_PROCESSOR[role] * _processors()
    by_memory = int(_SHARE * _free_mb() / _A_WORKER_MB)
    return max(1, min(by_processors, by_memory, MOST))


def _processors() -> int:
    """Those that this process may use, where the system says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _free_mb() -> float:
    """What can be had without swapping, caches included; where nobody says so, plenty."""
    try:
        with open("/proc/meminfo", encoding="ascii") as told:  # noqa: PTH123 - no file of ours
            for line in told:
                name, _, amount = line.partition(":")
                if name == "MemAvailable":
                    return int(amount.split()[0]) / 1024
    except (OSError, ValueError, IndexError):
        pass
    return float("inf")
