"""Runs a command and measures all processes that it starts: processor time, memory, open files.

Used by the other programs of this folder. It reads `/proc`, so it needs Linux.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

HARNESS = "harness"
# The parties that a run starts, by their name or their command line; everything else is the harness. A fork
# has the command line of its parent. In older commits nothing is forked, and the modules are in no package.
PARTIES = {
    "gateway": re.compile(r"^gateway: | -m (gateproof\.)?reference\.gateway"),
    "service": re.compile(r"^service: | -m (gateproof\.)?reference\.service"),
    "merchant": re.compile(r"^merchant: | -m (gateproof\.)?fakes\.merchant"),
    "proxy": re.compile(r"\bmitmdump\b"),
}
# Each look counts the processor time so far; what a process uses after its last look is not seen.
_LOOK_EVERY_S = 0.2
# The kernel walks the page tables for this, so it is done more rarely.
_MEMORY_EVERY_S = 1.0
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
_END_S = 30


@dataclass(frozen=True)
class Look:
    """One measurement of a process tree.

    `memory_mb` adds up the resident sizes. `pss_mb` counts a page that n processes share as 1/n in each.
    """

    memory_mb: float
    pss_mb: float
    files: int
    processes: int


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a command and all processes that it started used; memory is the largest sum."""

    exit_code: int
    wall_s: float
    processor_s: float
    processor_s_of: dict[str, float]
    memory_mb: float
    pss_mb: float


def tree(root: int) -> list[int]:
    """A process and all of its descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            children.setdefault(int(_stat(folder)[1]), []).append(int(folder.name))
        except (OSError, ValueError, IndexError):
            continue
    found = [root]
    for each in found:
        found += children.get(each, [])
    return found


def look(root: int) -> Look:
    memory, pss, files, processes = 0.0, 0.0, 0, 0
    for pid in tree(root):
        folder = Path(f"/proc/{pid}")
        try:
            memory += int((folder / "statm").read_text().split()[1]) * _PAGE / 1e6
            pss += pss_kb((folder / "smaps_rollup").read_text()) * 1024 / 1e6
            files += len(list((folder / "fd").iterdir()))
            processes += 1
        except (OSError, ValueError, IndexError):
            continue
    return Look(memory, pss, files, processes)


def pss_kb(rollup: str) -> int:
    """The proportional size in the text of `smaps_rollup`."""
    return next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)


def party(what_runs: str) -> str:
    """Which party of a run a process belongs to, by `name: command line`."""
    return next((name for name, pattern in PARTIES.items() if pattern.search(what_runs)), HARNESS)


def measured(command: Sequence[str], folder: Path, limit_s: float, *, output: IO[str] | None = None) -> Usage:
    """Runs a command in a folder, and ends it after the limit; its output goes to a file or is dropped."""
    before, begun = _children_s(), time.monotonic()
    used: dict[tuple[int, str], tuple[str, float]] = {}
    looks, next_look = [Look(0, 0, 0, 0)], begun
    with subprocess.Popen(command, cwd=folder, stdout=output or subprocess.DEVNULL) as running:
        try:
            while running.poll() is None:
                now = time.monotonic()
                if now > begun + limit_s:
                    sys.exit(f"{' '.join(command)} took more than {limit_s:.0f} s")
                pids = tree(running.pid)
                _count(pids, used)
                if now >= next_look:
                    looks.append(look(running.pid))
                    next_look = now + _MEMORY_EVERY_S
                time.sleep(_LOOK_EVERY_S)
        finally:
            _end(running)
    of: dict[str, float] = {}
    for what_runs, seconds in used.values():
        of[party(what_runs)] = of.get(party(what_runs), 0.0) + seconds
    return Usage(
        exit_code=running.returncode,
        wall_s=time.monotonic() - begun,
        processor_s=_children_s() - before,
        processor_s_of=of,
        memory_mb=max(each.memory_mb for each in looks),
        pss_mb=max(each.pss_mb for each in looks),
    )


def _stat(folder: Path) -> list[str]:
    """The fields after the program's name, which may contain brackets; it ends with the last one."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _count(pids: Sequence[int], used: dict[tuple[int, str], tuple[str, float]]) -> None:
    """Stores what runs, and the processor time, of each process, by PID and time of its start."""
    for pid in pids:
        folder = Path(f"/proc/{pid}")
        try:
            fields = _stat(folder)
            name, words = ((folder / file).read_text() for file in ("comm", "cmdline"))
        except (OSError, IndexError):
            continue
        key = pid, fields[19]
        # A process that has just ended has an empty command line.
        known = used.get(key, ("", 0.0))[0]
        what_runs = f"{name.strip()}: {words.replace(chr(0), ' ')}" if words else known
        used[key] = what_runs, (int(fields[11]) + int(fields[12])) / _TICK


def _children_s() -> float:
    """The processor time of ended children and of the descendants that they waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _end(running: subprocess.Popen[bytes]) -> None:
    """Ends a command that still runs: politely, so that it ends its own processes, then all of them."""
    if running.poll() is not None:
        return
    started = tree(running.pid)
    running.terminate()
    try:
        running.wait(_END_S)
    except subprocess.TimeoutExpired:
        for pid in started:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
