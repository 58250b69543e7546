"""Projects that many checks of a worker use, one after the other: see docs/adr/0021."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from gateproof.conformance.suite.parties import Project, Resource

# A check that isolates two users gets them in two Projects.
FOR_USERS = 2
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
        self._for_users: deque[Project] = deque()
        self._with_clients: Project | None = None
        self._clients = 0

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
        if self._with_clients is None or anew or self._clients == MOST_CLIENTS:
            self._with_clients, self._clients = self._approving(), 0
        self._clients += 1
        return self._with_clients

    def isolating(self) -> Project:
        """An approving Project for a new user; the next one is another Project."""
        if len(self._for_users) < FOR_USERS:
            self._for_users.append(self._approving())
        else:
            self._for_users.rotate(-1)
        return self._for_users[-1]

    def is_troubled(self, project_id: str) -> None:
        """No other check gets this Project."""
        self._for_users = deque(each for each in self._for_users if each.id != project_id)


def _number(number: int, made: list[Project], make: Callable[[], Project]) -> Project:
    if len(made) < number:
        made.append(make())
    return made[number - 1]
