"""Events of sign-ins and merchant tokens, which show an operator why a redemption is a 404.

Events contain no credentials.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

MOST_EVENTS = 10_000

What = Literal[
    "signed in",
    "agent is Pending",
    "provisioning started",
    "provisioning succeeded",
    "provisioning failed",
    "refresh succeeded",
    "refresh failed",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event of one user at one Resource."""

    at: float
    what: What
    project_id: str
    resource_id: str
    login_id: str
    agent_id: str | None
    detail: str = ""


class Events:
    """The latest events, oldest first."""

    def __init__(self) -> None:
        self._latest: deque[Event] = deque(maxlen=MOST_EVENTS)

    def note(self, event: Event) -> None:
        self._latest.append(event)

    def of(self, project_id: str) -> list[Event]:
        return [event for event in self._latest if event.project_id == project_id]

    def forget(self, project_id: str) -> None:
        kept = [event for event in self._latest if event.project_id != project_id]
        self._latest.clear()
        self._latest.extend(kept)
