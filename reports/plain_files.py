"""Reads files of a folder that may come from an untrusted party."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

# Larger than any file of a run.
MOST = 512 * 1024 * 1024


class NotPlain(OSError):
    """The file is not a regular one, or is too large."""


def read_plain(path: Path, most: int = MOST) -> bytes:
    """The content of a regular file of at most `most` bytes."""
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise NotPlain(0, f"it has {size} bytes, more than {most}", str(path))
        return file.read(most + 1)


def read_beginning(path: Path, most: int) -> bytes:
    """At most this many bytes of a regular file."""
    with _opened(path) as file:
        return file.read(most)


def _opened(path: Path) -> BinaryIO:
    """Opens a regular file; does not follow links or block."""
    if path.is_symlink():
        raise NotPlain(0, "it is a link", str(path))
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise NotPlain(0, "it is not a regular file", str(path))
    return os.fdopen(number, "rb")
