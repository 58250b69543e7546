"""Waits for the end of the harness; then ends what the harness launched, and removes its folders.

The harness does this itself, unless it is killed. This program runs as a file, without site-packages, with
its tasks on stdin: fields that end with a zero octet each, and one more zero octet after the last. Its stdin
ends when the harness ends, however that happens.
"""

from __future__ import annotations

import os
import time

# typing is slow to load; type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KILL = 9
_PROCESSES = "/proc"
# How long a removed folder must not reappear; and the time after which removing is given up.
_QUIET_S, _LONGEST_S, _PAUSE_S = 3.0, 60.0, 0.1
# The longest search for processes to kill.
_SEARCH_S, _SEARCH_PAUSE_S = 2.0, 0.005


def main() -> None:
    groups: dict[bytes, int] = {}
    marks: set[bytes] = set()
    folders: dict[bytes, None] = {}
    for task in _tasks():
        match task:
            case [b"watch", number, mark]:
                groups[mark] = int(number)
                marks.add(mark)
            case [b"ended", mark]:
                groups.pop(mark, None)
            case [b"forget", mark]:
                marks.discard(mark)
            case [b"folder", path]:
                folders[path] = None
            case [b"removed", path]:
                folders.pop(path, None)
    for group in groups.values():
        kill_group(group)
    if marks:
        kill_marked(marks)
    if any(map(os.path.lexists, folders)):
        _remove(list(folders))


def _tasks() -> Iterator[list[bytes]]:
    """The tasks on stdin, until it ends."""
    waiting = b""
    while octets := os.read(0, 65536):
        *tasks, waiting = (waiting + octets).split(b"\0\0")
        for task in tasks:
            yield task.split(b"\0")


def kill_group(group: int) -> None:
    try:
        os.killpg(group, _KILL)
    except OSError:
        # It has ended.
        return


def kill_marked(marks: set[bytes]) -> None:
    """Kills the processes with one of these variables in their environment, whatever group they are in.

    Works only where /proc exists. Repeats the search if it killed something, which may just have started
    another process, and while a process is loading its program: its environment cannot be read then.
    """
    known: dict[str, bytes] = {}
    begun = time.monotonic()
    while _kill_found(marks, known) and time.monotonic() - begun < _SEARCH_S:
        time.sleep(_SEARCH_PAUSE_S)


def _kill_found(marks: set[bytes], known: dict[str, bytes]) -> bool:
    """Looks at every process once; True if another look is needed.

    `known` has the command lines of processes that were seen without an environment.
    """
    try:
        found = os.listdir(_PROCESSES)  # noqa: PTH208 - pathlib is slow to load
    except OSError:
        return False
    again = False
    for name in found:
        if name.isdecimal() and int(name) != os.getpid():
            try:
                environment = _read(name, "environ")
                if not marks.isdisjoint(environment.split(b"\0")):
                    os.kill(int(name), _KILL)
                    again = True
                elif not environment:
                    # A zombie or kernel thread has no program: this raises an error.
                    os.readlink(f"{_PROCESSES}/{name}/exe")  # noqa: PTH115
                    command = _read(name, "cmdline")
                    # Without a command line it is loading. With a new one, it may have been loading when its
                    # environment was read.
                    again = again or not command or known.get(name) != command
                    known[name] = command
            except OSError:
                continue
    return again


def _read(process: str, file: str) -> bytes:
    # Not with open(): there are hundreds of processes, and it takes twice as long.
    opened = os.open(f"{_PROCESSES}/{process}/{file}", os.O_RDONLY)
    try:
        found = b""
        while octets := os.read(opened, 65536):
            found += octets
        return found
    finally:
        os.close(opened)


def _remove(folders: list[bytes]) -> None:
    """Removes the folders until they stay away: a worker that ends a moment later may still write there."""
    from shutil import rmtree  # noqa: PLC0415 - slow to load, and rarely needed

    begun = seen = time.monotonic()
    while time.monotonic() - seen < _QUIET_S and time.monotonic() - begun < _LONGEST_S:
        for path in filter(os.path.lexists, folders):
            seen = time.monotonic()
            rmtree(path, ignore_errors=True)
        time.sleep(_PAUSE_S)


if __name__ == "__main__":
    main()
