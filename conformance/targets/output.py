"""Writes the output of a launched target to a file that only its owner may read."""

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
# Limit for one read, so that a target that prints endlessly does not block the reader.
_MOST_CHUNKS = 64
# A target that prints a line for each request would wake the thread for each. After a chunk of less than
# this, a part of what fits into a pipe, the thread waits a moment for more.
_SMALL_CHUNK, _MOMENT_S = 4 * 1024, 0.01


class Output:
    """Copies a pipe into a file until its end; beyond the limit it only counts.

    A thread does this. Readers of the file first copy what is in the pipe: a target may print and answer
    before the thread has run, and its output has to be in the file by then.
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
        self._lock = threading.Lock()
        self._closed = False
        self._awaited = threading.Event()
        self._thread = threading.Thread(target=self._drain, name="target output", daemon=True)

    @property
    def kept(self) -> int:
        """How many bytes are in the file: the offset of the next ones."""
        self._catch_up()
        return self._kept

    @property
    def dropped(self) -> int:
        """How many bytes came after the file was full."""
        self._catch_up()
        with self._lock:
            return self._seen - self._kept

    def start(self) -> None:
        """Closes the writing end here, so that only the target's processes hold it; starts the thread."""
        os.close(self.pipe)
        self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Waits until all processes that hold the pipe have ended, or the time is over."""
        self._awaited.set()
        self._thread.join(timeout_s)

    def since(self, offset: int = 0) -> str:
        """The text from an offset on."""
        self._catch_up()
        with self.file.open("rb") as file:
            file.seek(offset)
            return file.read().decode("utf-8", "replace")

    def last_lines(self) -> str:
        """The last lines, complete and more than are shown: redaction does not recognize a cut secret."""
        start = max(0, self._kept - _LAST)
        return self.since(start).partition("\n")[2] if start else self.since()

    def _keep(self, chunk: bytes) -> None:
        try:
            while chunk:
                written = os.write(self._sink, chunk)
                self._kept += written
                chunk = chunk[written:]
        except OSError:
            # If the disk is full, the target continues, and its output is only counted.
            self._largest = self._kept

    def _drain(self) -> None:
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        try:
            while not self._closed:
                poll.poll()
                seen = self._seen
                self._read_chunk()
                if 0 < self._seen - seen < _SMALL_CHUNK:
                    self._awaited.wait(_MOMENT_S)
        finally:
            with self._lock:
                self._closed = True
                os.close(self._source)
                os.close(self._sink)

    def _catch_up(self) -> None:
        """Copies what is in the pipe now."""
        for _ in range(_MOST_CHUNKS):
            if not self._read_chunk():
                return

    def _read_chunk(self) -> bool:
        """Copies one chunk from the pipe; False if there was none."""
        with self._lock:
            if self._closed:
                return False
            try:
                chunk = os.read(self._source, _CHUNK)
            except BlockingIOError:
                return False
            if not chunk:
                self._closed = True
                return False
            self._seen += len(chunk)
            room = self._largest - self._kept
            if room > 0:
                self._keep(chunk[:room])
            return True
