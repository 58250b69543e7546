"""Agents that listen at one port of their own cannot be launched by two workers at once."""

from __future__ import annotations

import fcntl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit


class Turns:
    """Workers launch the agent one after the other, until it has shown that its installs do not collide.

    It shows that by an install that registers the callback address which it was given, or no port of an
    earlier install. Each worker finds it out for itself; the file is the same for all.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._needed = True
        self._before: frozenset[int | None] = frozenset()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """This worker's turn, as long as one launch."""
        if not self._needed:
            yield
            return
        with self._file.open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    def look(self, callback_url: str, registered: Iterable[str]) -> None:
        """What an install was given as its callback address, and what it has registered so far."""
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
