"""The possible states of a user's merchant token in the gateway, as seen from outside.

The specification leaves open whether a sign-in replaces a token that is still valid, whether a rejected one
keeps the old token, when near expiry begins, and whether agents of one user share a token. So this keeps all
states that a conforming gateway may be in, and each answer excludes some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gateproof.conformance.histories.observation import MerchantCall

# Tolerance for lifetimes: they begin when the answer arrives, and are rounded to seconds.
ROUNDED_S = 3.0
# For lifetimes of an hour or more, near expiry does not begin within the first tenth.
LONG_S, FAR_SHARE = 3600.0, 0.1

Key = tuple[int, int, int]
SHARED = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """The cache entry of one user: nothing, a merchant token, or "needs reauthentication".

    `refresh` is the refresh token: none, a valid one, one that was replaced in a lost answer, or a rejected
    one.
    """

    holds: Literal["nothing", "token", "reauthentication"] = "nothing"
    until: float = 0.0
    far_until: float = 0.0
    refresh: Literal["none", "live", "lost", "dead"] = "none"
    troubled: bool = False


NOTHING = Entry()
REAUTHENTICATION = Entry(holds="reauthentication")
Entries = frozenset[Entry]


def fresh(at: float, life_s: float, *, refreshable: bool) -> Entry:
    """The entry for a merchant token issued at this moment."""
    return Entry(
        holds="token",
        until=at + life_s,
        far_until=at + FAR_SHARE * life_s if life_s >= LONG_S else at,
        refresh="live" if refreshable else "none",
    )


def after(entry: Entry, heard: MerchantCall, life_s: float, *, refreshable: bool) -> Entries:
    """The possible entries after an answer of the merchant."""
    good = entry.holds == "token" and heard.at < entry.until
    match heard.grant, heard.result:
        case "provisioning", "accepted":
            new = fresh(heard.at, life_s, refreshable=refreshable)
            return frozenset({new, entry} if good else {new})
        case "provisioning", _:
            return frozenset({entry, NOTHING})
        case "refresh", "accepted":
            return frozenset({fresh(heard.at, life_s, refreshable=True)})
        case "refresh", "rejected":
            return _rejected(entry)
        case "refresh", "reused":
            # A valid refresh token would have been accepted, so this one was older.
            return frozenset({entry}) if entry.refresh == "live" else _rejected(entry)
        case "refresh", "lost":
            return frozenset({replace(entry, refresh="lost", troubled=True)})
    return frozenset({replace(entry, troubled=True)})


def _rejected(entry: Entry) -> Entries:
    """After a rejection: a token that is still valid may be used until its end."""
    return frozenset({REAUTHENTICATION, replace(entry, refresh="dead", troubled=False)})


def answers(entry: Entry, now: float, *, trouble: bool) -> Mapping[str, Entry]:
    """The possible answers to a redemption with valid credentials, and the entry after each.

    `trouble`: the merchant failed during this redemption.
    """
    if entry.holds == "nothing":
        return {"404": entry}
    if entry.holds == "reauthentication":
        return {"410": entry}
    found: dict[str, Entry] = {}
    useless = entry.refresh in {"none", "dead"}
    if now < entry.until + ROUNDED_S:
        found["200"] = entry
        if useless and now >= entry.far_until:
            found["410"] = REAUTHENTICATION
        if trouble:
            found["5xx"] = entry
    if now > entry.until - ROUNDED_S:
        if useless:
            found["410"] = REAUTHENTICATION
        else:
            # A new token is needed; whether it is new is checked separately.
            found["200"] = entry
            if trouble or entry.troubled:
                found["5xx"] = entry
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Vault:
    """The entries of a vault that is keyed by user, or by user and agent."""

    shared: bool
    entries: Mapping[Key, Entries] = field(default_factory=dict)

    def key(self, project: int, user: int, agent: int) -> Key:
        return project, user, SHARED if self.shared else agent

    def of(self, key: Key) -> Entries:
        return self.entries.get(key, frozenset({NOTHING}))

    def with_(self, key: Key, entries: Iterable[Entry]) -> Vault:
        return replace(self, entries={**self.entries, key: frozenset(entries)})

    def change(self, key: Key, change: Callable[[Entry], Entries]) -> Vault:
        return self.with_(key, (new for old in self.of(key) for new in change(old)))

    def keys_of(self, project: int, user: int) -> list[Key]:
        return [key for key in self.entries if key[:2] == (project, user)]
