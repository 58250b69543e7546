"""A lock for agents with one fixed callback port: two workers cannot launch them at the same time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit


class LaunchLock:
    """Workers launch the agent one after the other until its installs are known not to collide.

    They do not collide if an install registers the callback address that it was given, or ports that no
    earlier install used. Each worker finds this out for itself; all workers lock the same file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._needed = True
        self._before: frozenset[int | None] = frozenset()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Holds the lock during one launch."""
        if not self._needed:
            yield
            return
        with self._file.open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    def look(self, callback_url: str, registered: Iterable[str]) -> None:
        """Compares the callback address that an install was given with those that it registered."""
        ports = frozenset(map(_port, registered))
        if not ports:
            return
        if ports == {_port(callback_url)} or (self._before and ports.isdisjoint(self._before)):
            self._needed = False
        self._before = self._before or ports


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
