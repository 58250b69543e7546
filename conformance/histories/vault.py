"""What the gateway may hold of a user's merchant token, as far as anybody outside can tell.

The specification leaves much open: whether a sign-in replaces a token that is still good, whether a rejected
one leaves the old token, when near expiry begins, and whether agents of one user share a token. So what is
kept here is every state that a conforming gateway may be in, and each answer rules some of them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gateproof.conformance.histories.observation import Heard

# What a gateway may count a life differently by: it begins when the answer arrives, and seconds are whole.
ROUNDED_S = 3.0
# A life of an hour or more is far from its end in its first tenth.
LONG_S, FAR_SHARE = 3600.0, 0.1

Key = tuple[int, int, int]
SHARED = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What is cached for one user: nothing, a merchant token, or that the user has to sign in again.

    `refresh` is what the gateway has of a refresh token: none, the one that the merchant takes, one that the
    merchant replaced by an answer that got lost, or one that it rejected.
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
    """A merchant token that was issued at that moment."""
    return Entry(
        holds="token",
        until=at + life_s,
        far_until=at + FAR_SHARE * life_s if life_s >= LONG_S else at,
        refresh="live" if refreshable else "none",
    )


def after(entry: Entry, heard: Heard, life_s: float, *, refreshable: bool) -> Entries:
    """What may be cached once the merchant has answered."""
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
            # The merchant took what it gave last, and would have taken it again.
            return frozenset({entry}) if entry.refresh == "live" else _rejected(entry)
        case "refresh", "lost":
            return frozenset({replace(entry, refresh="lost", troubled=True)})
    return frozenset({replace(entry, troubled=True)})


def _rejected(entry: Entry) -> Entries:
    """A token that is still good may be used to its end."""
    return frozenset({REAUTHENTICATION, replace(entry, refresh="dead", troubled=False)})


def answers(entry: Entry, now: float, *, trouble: bool) -> Mapping[str, Entry]:
    """What a redemption with good credentials may be answered with, and what is cached afterwards.

    `trouble`: the merchant failed while it was asked for this very answer.
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
            # Only a new one will do: whether the token that comes is new is looked at apart.
            found["200"] = entry
            if trouble or entry.troubled:
                found["5xx"] = entry
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Vault:
    """The entries of one way to keep them: one for all agents of a user, or one for each."""

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
