"""The gateway's data, in dictionaries.

Nothing here awaits, so data does not change between two awaits of a handler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from gateproof.reference.gateway.events import Events
from gateproof.reference.gateway.keys import KeyRing
from gateproof.reference.gateway.records import (
    Agent,
    Code,
    Decision,
    Grant,
    Person,
    Project,
    ProxyClient,
    ProxyToken,
    RefreshToken,
    Resource,
    SignIn,
    Standing,
    VaultEntry,
    VaultKey,
)

Value = TypeVar("Value")
MOST_ENTRIES = 100_000


class Expiring(Generic[Value]):
    """A table whose rows are removed after a fixed time.

    All rows of a table have the same lifetime, so the oldest row is always the first to expire.
    """

    def __init__(self, *, keep_s: float, most: int = MOST_ENTRIES) -> None:
        self._keep_s = keep_s
        self._most = most
        self._rows: dict[str, tuple[float, Value]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, key: str, value: Value, now: float) -> None:
        for oldest in self._oldest(now):
            del self._rows[oldest]
        self._rows[key] = (now + self._keep_s, value)

    def get(self, key: str) -> Value | None:
        row = self._rows.get(key)
        return None if row is None else row[1]

    def change(self, key: str, value: Value) -> None:
        self._rows[key] = (self._rows[key][0], value)

    def renew(self, key: str, now: float) -> None:
        """Restarts the lifetime of a row."""
        if (value := self.take(key)) is not None:
            self.add(key, value, now)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def values(self) -> Iterator[Value]:
        """The rows, the oldest first."""
        return (value for _, value in self._rows.values())

    def take(self, key: str) -> Value | None:
        """Reads and removes a row in one step, so that it can be taken only once."""
        row = self._rows.pop(key, None)
        return None if row is None else row[1]

    def _oldest(self, now: float) -> list[str]:
        surplus = len(self._rows) + 1 - self._most
        gone = []
        for position, (key, (until, _)) in enumerate(self._rows.items()):
            if until > now and position >= surplus:
                break
            gone.append(key)
        return gone


@dataclass(kw_only=True, slots=True)
class Store:
    """The tables; keys of credential tables are fingerprints."""

    core_keys: KeyRing
    projects: dict[str, Project] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    proxy_clients: dict[str, ProxyClient] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    standings: dict[tuple[str, str], Standing] = field(default_factory=dict)
    # Decisions by Project and agent, then by login.
    answers: dict[tuple[str, str], dict[str, Decision]] = field(default_factory=dict)
    subjects: dict[tuple[str, str], str] = field(default_factory=dict)
    vault: dict[VaultKey, VaultEntry] = field(default_factory=dict)
    events: Events = field(default_factory=Events)
    # A sign-in may take ten minutes.
    sign_ins: Expiring[SignIn] = field(default_factory=lambda: Expiring(keep_s=600))
    browsers: Expiring[dict[str, Person]] = field(default_factory=lambda: Expiring(keep_s=3600))
    # A used code is kept as long as its tokens may live, so that a second use can revoke them.
    codes: Expiring[Code] = field(default_factory=lambda: Expiring(keep_s=7200))
    access_tokens: Expiring[str] = field(default_factory=lambda: Expiring(keep_s=7200))
    refresh_tokens: Expiring[RefreshToken] = field(default_factory=lambda: Expiring(keep_s=31 * 86400))
    grants: Expiring[Grant] = field(default_factory=lambda: Expiring(keep_s=32 * 86400))
    proxy_tokens: Expiring[ProxyToken] = field(default_factory=lambda: Expiring(keep_s=7200))

    def revoke_grant(self, grant_id: str) -> None:
        if grant := self.grants.get(grant_id):
            self.grants.change(grant_id, replace(grant, revoked=True))

    def resources_of(self, project_id: str) -> tuple[Resource, ...]:
        return tuple(each for each in self.resources.values() if each.project_id == project_id)

    def delete_project(self, project_id: str) -> None:
        """Deletes a Project with everything in it."""
        self.projects.pop(project_id, None)
        for resource in self.resources_of(project_id):
            del self.resources[resource.id]
        self.proxy_clients = {k: v for k, v in self.proxy_clients.items() if v.project_id != project_id}
        self.standings = {k: v for k, v in self.standings.items() if k[0] != project_id}
        self.answers = {k: v for k, v in self.answers.items() if k[0] != project_id}
        self.subjects = {k: v for k, v in self.subjects.items() if k[0] != project_id}
        self.vault = {k: v for k, v in self.vault.items() if k.project_id != project_id}
        self.events.forget(project_id)
