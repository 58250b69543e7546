"""The turn of a check among the others of a run."""

from __future__ import annotations

from enum import Enum, auto


class Turn(Enum):
    """When a check runs, because of what the target remembers and what the check has to wait for.

    FIRST_CALLS need a target that nobody has called yet. END_OF_A_PROXY_TOKEN waits for the end of the first
    Proxy tokens, so it comes before the checks in which one is refused. NEW_KEY waits until the target
    fetches a key set again, and many do so every half a minute at most.
    """

    ANY = auto()
    FIRST_CALLS = auto()
    END_OF_A_PROXY_TOKEN = auto()
    NEW_KEY = auto()

    @property
    def waits(self) -> bool:
        """True if the check may wait for half a minute or more, and nothing else may happen meanwhile."""
        return self in {Turn.END_OF_A_PROXY_TOKEN, Turn.NEW_KEY}

    @property
    def in_a_row(self) -> bool:
        """True if these checks learn from each other, so that they run in a row at the same target."""
        return self in {Turn.END_OF_A_PROXY_TOKEN, Turn.FIRST_CALLS}
