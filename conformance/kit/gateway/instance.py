"""An instance of the target that one worker has for itself, and may kill."""

from __future__ import annotations

from typing import Protocol, TypeVar

World_co = TypeVar("World_co", covariant=True)


class Instance(Protocol[World_co]):
    """A second instance of the target, started with the same command on other ports."""

    def world(self) -> World_co:
        """The world around the instance, for the check that is running."""
        ...

    def kill_and_start(self) -> str:
        """Kills all its processes and starts it again.

        If the new process ended during its start, returns how; otherwise an empty text.

        Raises Unavailable if it could not be killed, or did not answer in time.
        """
        ...

    def discard(self) -> None:
        """Discards this instance, because it has lost its data; the next check gets another one."""
        ...
