"""What a launched target prints, drained into a file that only its owner may read."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE = 64 * 1024 * 1024
_LAST = 64 * 1024


class Output:
    """Drains a pipe into a file until its end; beyond the bound it counts and keeps nothing."""

    def __init__(self, file: Path, *, largest: int = LARGEST_FILE) -> None:
        self.file = file
        self._largest = largest
        self._kept = 0
        self._seen = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        self._sink = os.open(file, flags, 0o600)
        self._source, self.pipe = os.pipe()
        self._thread = threading.Thread(target=self._drain, name="target output", daemon=True)

    @property
    def kept(self) -> int:
        """How many bytes stand in the file: the offset at which the next ones will stand."""
        return self._kept

    @property
    def dropped(self) -> int:
        """How many bytes came after the file was full."""
        return self._seen - self._kept

    def start(self) -> None:
        """Gives the pipe's writing end away: from here on the target's processes alone hold it."""
        os.close(self.pipe)
        self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Waits until everybody who could still print is gone, or the time is up."""
        self._thread.join(timeout_s)

    def since(self, offset: int = 0) -> str:
        """The text from an offset on."""
        with self.file.open("rb") as file:
            file.seek(offset)
            return file.read().decode("utf-8", "replace")

    def last_lines(self) -> str:
        """The last lines, whole and far more than are shown: a secret that is cut is not recognised."""
        start = max(0, self._kept - _LAST)
        return self.since(start).partition("\n")[2] if start else self.since()

    def _keep(self, chunk: bytes) -> None:
        try:
            while chunk:
                written = os.write(self._sink, chunk)
                self._kept += written
                chunk = chunk[written:]
        except OSError:
            # Where the disk is full the target goes on all the same, and what it prints is counted.
            self._largest = self._kept

    def _drain(self) -> None:
        try:
            while chunk := os.read(self._source, 65536):
                self._seen += len(chunk)
                room = self._largest - self._kept
                if room > 0:
                    self._keep(chunk[:room])
        finally:
            os.close(self._source)
            os.close(self._sink)
