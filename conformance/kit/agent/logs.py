"""The agent's log files after each of its runs: those that the target file lists, and those found by name."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

# New content is read together with the end of the old content: the last line may have been incomplete.
_READ_AGAIN = 4 * 1024
# File names of logs. Databases use such names, with a number, for their journals.
_LOG = re.compile(r"(?:^|[._-])logs?(?:[._-]|$)", re.IGNORECASE)
_JOURNAL = re.compile(r"\d+\.log", re.IGNORECASE)
_Mark: TypeAlias = tuple[int, int, int]


class Logbook:
    """Everything that the runs added to these files, even if the agent truncates or deletes them.

    Content from before the first run is ignored: this agent did not write it.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._before = _marks(files)
        self._last: dict[Path, bytes] = {}
        for file in self._before:
            with suppress(OSError):
                self._last[file] = file.read_bytes()
        self._written: set[Path] = set()
        self._unreadable: set[Path] = set()
        self._pieces: list[bytes] = []

    def look(self) -> None:
        """Reads what was added since the last call; a file with other content is read as a whole."""
        for file, mark in _marks(self._files).items():
            if file not in self._written and mark == self._before.get(file):
                continue
            self._written.add(file)
            try:
                self._read(file)
            except FileNotFoundError:
                continue
            except OSError:
                self._unreadable.add(file)

    def pieces(self) -> Sequence[bytes]:
        """The added texts, in the order of the runs."""
        return self._pieces

    def missing(self) -> list[str]:
        """The names of files that no run has written, or that could not be read after a run."""
        return [file.name for file in self._files if file not in self._written or file in self._unreadable]

    def _read(self, file: Path) -> None:
        before, now = self._last.get(file, b""), file.read_bytes()
        self._last[file] = now
        if not now.startswith(before):
            self._pieces.append(now)
        elif len(now) > len(before):
            self._pieces.append(now[max(0, len(before) - _READ_AGAIN) :])


def logs_below(folder: Path) -> Iterator[bytes]:
    """The content of every text file below the folder that is a log by its name or the name of its folder."""
    for file in sorted(folder.rglob("*")):
        named = any(_LOG.search(part) for part in file.relative_to(folder).parts)
        with suppress(OSError):
            if not named or _JOURNAL.fullmatch(file.name) or not stat.S_ISREG(file.lstat().st_mode):
                continue
            content = file.read_bytes()
            if b"\0" not in content:
                yield content


def _marks(files: Iterable[Path]) -> dict[Path, _Mark]:
    """Modification time, size and inode of each file that exists."""
    found: dict[Path, _Mark] = {}
    for file in files:
        with suppress(OSError):
            status = file.stat()
            if stat.S_ISREG(status.st_mode):
                found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found
