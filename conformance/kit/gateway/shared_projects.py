"""Projects that many checks of a worker use, one after the other: see docs/adr/0021."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from gateproof.conformance.suite.parties import Project, Resource

# What the merchant does for the isolated user. "calm": it serves the user, or rejects a refresh token.
# "strained": it is slow, or issues the user no token. "troubled": it fails or answers nonsense. "own": it
# rejects the gateway itself, which a gateway may remember for the Resource.
Place = Literal["calm", "strained", "troubled", "own"]
Shared = Literal["calm", "strained", "troubled"]


class Take(Protocol):
    """A Project for one more Proxy client; another one if `anew`."""

    def __call__(self, *, anew: bool) -> Project: ...


# A check that isolates two users gets them in two Projects. Where the merchant fails, a Project rests while
# the others of its kind are used.
MOST: Mapping[Shared, int] = {"calm": 2, "strained": 3, "troubled": 3}
# How many Proxy clients checks create in a Project; a gateway may limit their number.
MOST_CLIENTS = 8


class SharedProjects:
    """Makes each Project when it is first needed, and provides it again for later checks.

    Checks must not change these Projects, and leave their Resources as they were for new users and agents.
    """

    def __init__(self, approving: Callable[[], Project], holding: Callable[[], Project]) -> None:
        self._approving = approving
        self._holding = holding
        self._others: list[Project] = []
        self._given = 0
        self._held: list[Project] = []
        self._turns: Mapping[Shared, deque[Project]] = {place: deque() for place in MOST}
        self._for_clients = _ForClients(approving)
        self._for_histories: dict[tuple[bool, int], _ForClients] = {}

    def begin(self) -> None:
        """Marks the start of a new check."""
        self._given = 0

    def another(self) -> Project:
        """An approving Project that this check did not get before."""
        self._given += 1
        return _number(self._given, self._others, self._approving)

    def held(self, count: int) -> list[Resource]:
        """Resources of this many Projects that hold agents."""
        return [_number(number, self._held, self._holding).resource for number in range(1, count + 1)]

    def for_clients(self, *, anew: bool) -> Project:
        """An approving Project for one more Proxy client; `anew` if the last one takes no more."""
        return self._for_clients.take(anew=anew)

    def for_history(self, *, holds: bool, number: int, anew: bool) -> Project:
        """The history's Project of this number and policy, for one more Proxy client."""
        make = self._holding if holds else self._approving
        return self._for_histories.setdefault((holds, number), _ForClients(make)).take(anew=anew)

    def isolating(self, place: Shared) -> Project:
        """An approving Project for a new user: of those of its kind, the one that was used longest ago."""
        turns = self._turns[place]
        if len(turns) < MOST[place]:
            turns.append(self._approving())
        else:
            turns.rotate(-1)
        return turns[-1]

    def became(self, place: Shared, project_id: str) -> None:
        """From now on, this Project is of that kind, unless it was of a worse one before."""
        kinds = tuple(MOST)
        for better in kinds[: kinds.index(place)]:
            for project in [each for each in self._turns[better] if each.id == project_id]:
                self._turns[better].remove(project)
                self._turns[place].append(project)


class _ForClients:
    """A Project in which checks create a limited number of Proxy clients; then another one."""

    def __init__(self, make: Callable[[], Project]) -> None:
        self._make = make
        self._project: Project | None = None
        self._clients = 0

    def take(self, *, anew: bool) -> Project:
        if self._project is None or anew or self._clients == MOST_CLIENTS:
            self._project, self._clients = self._make(), 0
        self._clients += 1
        return self._project


def _number(number: int, made: list[Project], make: Callable[[], Project]) -> Project:
    if len(made) < number:
        made.append(make())
    return made[number - 1]
