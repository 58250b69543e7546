"""The files that an agent calls its logs, as they were after each of its runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class Logbook:
    """All that ever stood in these files: an agent may begin them anew in every run, or clear them away."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        self._last: dict[Path, bytes] = {}
        self._gone: list[bytes] = []

    def look(self) -> None:
        """What was added is taken for a part of the same log; what is another one does not replace it."""
        for file in (file for file in self._files if file.is_file()):
            before, now = self._last.get(file, b""), file.read_bytes()
            if not now.startswith(before):
                self._gone.append(before)
            self._last[file] = now

    def text(self) -> bytes:
        return b"\n".join([*self._gone, *self._last.values()])

    def missing(self) -> list[str]:
        """The names of those that were never there."""
        return [file.name for file in self._files if file not in self._last]
