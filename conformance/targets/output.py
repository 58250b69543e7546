"""What a launched target prints, drained into a file that only its owner may read."""

from __future__ import annotations

import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE = 64 * 1024 * 1024
_LAST = 64 * 1024
_CHUNK = 64 * 1024
# A target that prints without end does not hold up whoever reads what it has printed so far.
_MOST_CHUNKS = 64


class Output:
    """Drains a pipe into a file until its end; beyond the bound it counts and keeps nothing.

    A thread drains it. Whoever reads the file first takes what is still in the pipe: a target may print,
    answer, and be asked what it printed before that thread had its turn.
    """

    def __init__(self, file: Path, *, largest: int = LARGEST_FILE) -> None:
        self.file = file
        self._largest = largest
        self._kept = 0
        self._seen = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        self._sink = os.open(file, flags, 0o600)
        self._source, self.pipe = os.pipe()
        os.set_blocking(self._source, False)
        self._reading = threading.Lock()
        self._at_the_end = False
        self._thread = threading.Thread(target=self._drain, name="target output", daemon=True)

    @property
    def kept(self) -> int:
        """How many bytes stand in the file: the offset at which the next ones will stand."""
        self._catch_up()
        return self._kept

    @property
    def dropped(self) -> int:
        """How many bytes came after the file was full."""
        self._catch_up()
        with self._reading:
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
        self._catch_up()
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
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        try:
            while not self._at_the_end:
                poll.poll()
                self._take()
        finally:
            with self._reading:
                self._at_the_end = True
                os.close(self._source)
                os.close(self._sink)

    def _catch_up(self) -> None:
        """Takes what is in the pipe by now."""
        for _ in range(_MOST_CHUNKS):
            if not self._take():
                return

    def _take(self) -> bool:
        """Takes a chunk of what is in the pipe; whether there was one."""
        with self._reading:
            if self._at_the_end:
                return False
            try:
                chunk = os.read(self._source, _CHUNK)
            except BlockingIOError:
                return False
            if not chunk:
                self._at_the_end = True
                return False
            self._seen += len(chunk)
            room = self._largest - self._kept
            if room > 0:
                self._keep(chunk[:room])
            return True
