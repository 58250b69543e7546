"""A gateway of a few lines, in memory: honest, or wrong in one way that only a history shows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from gateproof.conformance.histories.capabilities import Offer
from gateproof.conformance.histories.observation import MerchantCall, MerchantToken, Seen
from gateproof.conformance.histories.state import State, TargetFacts
from gateproof.conformance.histories.step_loop import Play
from gateproof.conformance.histories.steps import (
    Approve,
    AskProxyToken,
    Authorize,
    Exchange,
    Forward,
    Manner,
    Merchant,
    NewProject,
    NewProxyClient,
    Redeem,
    Register,
    Revoke,
    Step,
)

LIFE_S, HOUR_S = 60.0, 3600.0
EVERYTHING = Offer(
    users=2,
    projects=2,
    holding=True,
    approving=True,
    declining=True,
    new_clients=True,
    revoking_first=True,
    revoking=True,
    manners=Manner.__args__,  # type: ignore[attr-defined]
    forward=("merchant token", "Proxy token"),
)
UNTIMED = Offer(
    users=2,
    projects=2,
    holding=True,
    approving=True,
    declining=True,
    new_clients=True,
    revoking_first=True,
    revoking=True,
    manners=("accepts", "rejects", "stumbles once"),
)


@dataclass
class Cached:
    """A merchant token in the vault; `current` is false for a refresh token that the merchant replaced."""

    until: float
    refresh: bool
    current: bool = True
    lost: bool = False
    refreshes: int = 0
    mended: int = 0


@dataclass
class Toy:
    """Stands where a player stands. `wrong` names what it does wrong; nothing does what is right."""

    wrong: str = ""
    patience_s: float = 0.0
    signed_in_at: float = float("-inf")
    asks_always: bool = True
    now: float = 1000.0
    taken: int = 0
    projects: list[str] = field(default_factory=list)
    agents: int = 0
    standings: dict[tuple[int, int], str] = field(default_factory=dict)
    attempts: dict[tuple[int, int], int] = field(default_factory=dict)
    codes: list[tuple[Authorize, str]] = field(default_factory=list)
    ends: dict[int, float] = field(default_factory=dict)
    clients: list[tuple[int, bool]] = field(default_factory=list)
    tokens: list[tuple[int, float]] = field(default_factory=list)
    vault: dict[tuple[int, int], Cached] = field(default_factory=dict)
    manners: dict[tuple[int, int], Manner] = field(default_factory=dict)
    stumbles: set[tuple[int, int]] = field(default_factory=set)
    heard: list[MerchantCall] = field(default_factory=list)
    opened: set[int] = field(default_factory=set)
    uses: dict[int, int] = field(default_factory=dict)
    tried: set[tuple[int, int]] = field(default_factory=set)
    refused: dict[int, int] = field(default_factory=dict)
    declined: dict[tuple[int, int], int] = field(default_factory=dict)
    # For how long a merchant in trouble is left in peace, and until when it is, on a steady clock.
    spares_s: float = 0.0
    spared_until: float = float("-inf")

    def take(self, step: Step, *, awaits: bool = False) -> Seen:
        del awaits
        self.taken += 1
        self.heard = []
        match step:
            case Register():
                self.agents += 1
                return self._seen("201")
            case Authorize():
                return self._authorize(step)
            case Exchange():
                return self._exchange(step)
            case AskProxyToken():
                return self._proxy_token(step)
            case Redeem():
                return self._redeem(step)
            case _:
                self._direct(step)
        return self._seen("done")

    def _direct(self, step: Step) -> None:
        match step:
            case NewProject():
                self.clients.append((len(self.projects), False))
                self.projects.append(step.policy)
            case Approve():
                self.standings[step.agent, step.project] = "approved"
            case NewProxyClient():
                self.clients.append((step.project, False))
            case Revoke():
                self.clients[step.client] = (self.clients[step.client][0], True)
            case Merchant():
                place = (step.project, step.user)
                self.manners[place] = step.manner
                self.stumbles.discard(place)
                if step.manner in {"stumbles once", "rotates and loses the answer"}:
                    self.stumbles.add(place)
            case Forward():
                self.now += LIFE_S + 10 if step.past == "merchant token" else HOUR_S + 400

    def _authorize(self, step: Authorize) -> Seen:
        place = (step.agent, step.project)
        known = self.standings.get(place)
        held = known != "approved" and self.projects[step.project] == "hold"
        if held and known is None and self.wrong == "next let in" and step.project in self.opened:
            self.standings[place], held = "approved", False
        self.attempts[place] = self.attempts.get(place, 0) + 1
        if held and self.wrong == "worn out" and self.attempts[place] > 2:
            held = False
        if held or not step.approves:
            self.standings.setdefault(place, "Pending" if held else "approved")
            self.codes.append((step, "nothing"))
            self.declined.setdefault(place, step.user)
            return self._seen("no code")
        if self.projects[step.project] == "hold":
            self.opened.add(step.project)
        self.codes.append((step, "waits"))
        self._provision(step)
        return self._seen("code")

    def _provision(self, step: Authorize) -> None:
        place = (step.project, step.user)
        manner = self.manners.get(place, "accepts")
        if place in self.stumbles:
            self.stumbles.discard(place)
            self._hear("provisioning", "lost" if manner.startswith("rotates") else "failed", place)
            return
        if manner == "rejects":
            self._hear("provisioning", "rejected", place)
            self.vault.pop(place, None)
            return
        self._hear("provisioning", "accepted", place)
        old = self.vault.get(place)
        again = old is not None and not old.until
        mended = (old.mended if old else 0) + again
        if self.wrong == "mended once" and again and mended > 1:
            return
        refresh = manner != "gives no refresh token"
        self.vault[place] = Cached(until=self.now + LIFE_S, refresh=refresh, mended=mended)

    def _exchange(self, step: Exchange) -> Seen:
        self.uses[step.code] = self.uses.get(step.code, 0) + 1
        good = self.wrong == "code again" and self.uses[step.code] == 3
        authorized, stands = self.codes[step.code]
        if stands == "spent" and not good:
            return self._seen("invalid_grant")
        self.codes[step.code] = authorized, "spent"
        self.ends.setdefault(step.code, self.now + HOUR_S)
        return self._seen("tokens", until=self.now + HOUR_S)

    def _proxy_token(self, step: AskProxyToken) -> Seen:
        project, revoked = self.clients[step.client]
        count = sum(each == project for each, _ in self.clients)
        if revoked and self.wrong == "comes back":
            revoked = count == self.refused.setdefault(step.client, count)
        self.tokens.append((step.client, 0.0 if revoked else self.now + HOUR_S))
        return self._seen("401" if revoked else "Proxy token", until=self.now + HOUR_S)

    def _redeem(self, step: Redeem) -> Seen:
        authorized, _ = self.codes[step.code]
        client, until = self.tokens[step.token]
        project, revoked = self.clients[client]
        foreign = project != authorized.project
        if foreign and self.wrong == "foreign" and (client, authorized.project) in self.tried:
            foreign = False
        elif foreign:
            self.tried.add((client, authorized.project))
        if revoked or foreign or self.now > until or self.now > self.ends[step.code]:
            return self._seen("401")
        place = (authorized.project, authorized.user)
        entry = self.vault.get(place)
        if entry is None:
            return self._seen("404")
        if entry.until and self.now >= entry.until:
            failed = self._refresh(place, entry)
            if failed:
                return self._seen(failed)
        if not entry.until:
            return self._seen("410")
        other = self.declined.get((authorized.agent, authorized.project), authorized.user)
        owned = self.wrong != "declined" or other == authorized.user
        return self._seen("200", token=MerchantToken(owned=owned, until=entry.until))

    def _refresh(self, place: tuple[int, int], entry: Cached) -> str:
        manner = self.manners.get(place, "accepts")
        if not entry.refresh:
            entry.until = 0.0
            return "410"
        if time.monotonic() < self.spared_until:
            return "5xx"
        if place in self.stumbles:
            self.stumbles.discard(place)
            self.spared_until = time.monotonic() + self.spares_s
            lost = manner.startswith("rotates")
            entry.current = entry.current and not lost
            self._hear("refresh", "lost" if lost else "failed", place)
            return "5xx"
        rejected = manner in {"rejects", "rejects refreshes"}
        if rejected or not entry.current:
            self._hear("refresh", "rejected" if rejected else "reused", place)
            if self.wrong == "stale" and entry.mended:
                return ""
            entry.until = 0.0
            return "410"
        self._hear("refresh", "accepted", place)
        entry.until, entry.refreshes = self.now + LIFE_S, entry.refreshes + 1
        if self.wrong == "third refresh" and entry.refreshes == 2 and manner.startswith("rotates"):
            entry.current = False
        return ""

    def _hear(self, grant: str, result: str, place: tuple[int, int]) -> None:
        project, user = place
        self.heard.append(MerchantCall(grant=grant, result=result, project=project, user=user, at=self.now))  # type: ignore[arg-type]

    def _seen(self, came: str, **more: object) -> Seen:
        return Seen(
            came=came, said="" if came == "done" else came, at=self.now, heard=tuple(self.heard), **more
        )  # type: ignore[arg-type]


def play(wrong: str = "") -> Play:
    """A history at a toy gateway that is about to begin."""
    facts = TargetFacts(hears=True, life_s=LIFE_S)
    return Play(driver=Toy(wrong=wrong), state=State(facts=facts))  # type: ignore[arg-type]
