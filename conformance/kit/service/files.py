"""The files that a launched service writes below its own folder and its folder for temporary files."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Tolerance for file systems with coarse timestamps, or whose clock is slightly behind.
_COARSE_S = 2.0
_PIECE = 1024 * 1024
# Two pieces share this much, so that a value at the border is in one of them.
_SHARED = 4096
# Shorter texts cannot be part of a secret that is searched for.
_PRINTABLE = re.compile(rb"[\x20-\x7e]{8,}")
_MOST_OCTETS = 64 * 1024 * 1024


class TooManyFiles(Exception):
    """The folders contain more files than can be listed in the given time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceFiles:
    """Where a launched service may write, and since when; `ignored` are files and folders of others."""

    folders: tuple[Path, ...]
    since: float
    ignored: frozenset[Path] = frozenset()

    def written(self, within_s: float) -> Iterator[Path]:
        """The regular files that were written since the launch; raises TooManyFiles when the time is over."""
        until = time.monotonic() + within_s
        seen: set[tuple[int, int]] = set()
        for folder in self.folders:
            yield from self._below(folder, until, seen)

    def _below(self, folder: Path, until: float, seen: set[tuple[int, int]]) -> Iterator[Path]:
        with suppress(OSError):
            device = folder.stat().st_dev
            for where, names, files in os.walk(folder):
                place = Path(where)
                names[:] = [name for name in names if place / name not in self.ignored]
                for name in files:
                    if time.monotonic() > until:
                        raise TooManyFiles
                    path = place / name
                    with suppress(OSError):
                        found = path.lstat()
                        if self._counts(path, found, device) and (found.st_dev, found.st_ino) not in seen:
                            seen.add((found.st_dev, found.st_ino))
                            yield path

    def _counts(self, path: Path, found: os.stat_result, device: int) -> bool:
        late = max(found.st_mtime, found.st_ctime) >= self.since - _COARSE_S
        return stat.S_ISREG(found.st_mode) and found.st_dev == device and late and path not in self.ignored


def pieces_of(file: Path) -> Iterator[str]:
    """The content in pieces, only the printable texts of a binary file; nothing if the file was deleted."""
    with suppress(OSError), file.open("rb") as opened:
        read, kept = 0, b""
        while read < _MOST_OCTETS and (octets := opened.read(_PIECE)):
            read += len(octets)
            yield _text(kept + octets)
            kept = octets[-_SHARED:]


def _text(octets: bytes) -> str:
    """The octets as UTF-8 text; of a binary file the runs of printable characters, UTF-16 included."""
    with suppress(UnicodeDecodeError):
        if b"\0" not in octets:
            return octets.decode("utf-8")
    return b"\n".join(_PRINTABLE.findall(octets.replace(b"\0", b""))).decode("ascii")
