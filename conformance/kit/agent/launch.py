"""One launch of an agent is one run: watched, bounded, and stopped with everything that it started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from gateproof.conformance.kit.agent.browser import BrowserCommand
from gateproof.conformance.kit.agent.visits import Visit, Visits
from gateproof.conformance.kit.agent.world import AgentWorld, Heard
from gateproof.conformance.targets.launch import Running, launch
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.agent_endpoints import fields
from gateproof.fakes.gateway.script import Endpoint

_POLL_S = 0.02
# An address for the user stands near the beginning of what an agent prints.
_READ_FOR_ADDRESSES = 1024 * 1024
_LINE_IS_OVER_S = 0.5
# Who is asked to end may want to put things in order first.
_LAST_WORDS_S = 7.0
# How a process ends that does nothing about a signal, or can do nothing, and what a shell makes of that.
_OF_SIGNALS = {-signal.SIGTERM, 128 + signal.SIGTERM, -signal.SIGKILL, 128 + signal.SIGKILL}
_MARK = "GATEPROOF_STATE_DIR"
_PROCESSES = Path("/proc")
# Three authorizations are plenty, and ten fail (rule AGENT-15); who gets there is stopped.
MOST_AUTHORIZATIONS = 10
# Of calls that change nothing, so many are no bounded number either.
MOST_CALLS = 200


class Ended(StrEnum):
    """How a run came to its end."""

    BY_ITSELF = "by itself"
    AT_LIMIT = "at its time limit"
    STOPPED = "stopped after too many requests"
    ASKED_TO = "asked to end"


@dataclass(frozen=True, kw_only=True)
class Run:
    """All that is known of one run, and `what` it was to show.

    `output` is a file; beyond its bound, `dropped` bytes were not kept.
    """

    what: str
    ended: Ended
    exit_code: int | None
    took_s: float
    limit_s: float
    heard: tuple[Heard, ...] = field(repr=False)
    visits: tuple[Visit, ...] = field(repr=False)
    served: bool
    output_file: Path
    dropped: int
    # Addresses that it opened in the browser, and that are no authorizations.
    others: tuple[str, ...] = field(default=(), repr=False)
    # It did not end, though it was asked to, in as much time as it may take: not all of its processes did.
    killed: bool = False

    def said(self) -> str:
        """How it ended, in a few words."""
        return self._how() + self._for_want_of_a_browser()

    def _how(self) -> str:
        if self.ended is Ended.AT_LIMIT:
            return self._at_limit()
        if self.ended is not Ended.BY_ITSELF:
            return f"a run that was {self.ended.value}"
        return f"exit code {self.exit_code} and {'the orders' if self.served else 'no orders'} read"

    def _for_want_of_a_browser(self) -> str:
        host = self.elsewhere
        return f"; the redirect to {host} was not brought there: it is not on this machine" if host else ""

    @property
    def elsewhere(self) -> str | None:
        """The host of a redirect that no browser on this machine can bring there."""
        return next((host for visit in self.visits if (host := visit.elsewhere())), None)

    def _at_limit(self) -> str:
        return f"a run that was stopped {self.ended.value} of {self.limit_s:g} s"

    @property
    def cut_off(self) -> bool:
        """The signal itself ended it when it was asked to, or was stopped, or the shell that ran it."""
        return self.ended in {Ended.ASKED_TO, Ended.STOPPED} and self.exit_code in _OF_SIGNALS

    @property
    def done(self) -> bool:
        """The operation was carried out, and the agent ended by itself and said so."""
        return self.ended is Ended.BY_ITSELF and self.exit_code == 0 and self.served

    @property
    def stood_back(self) -> bool:
        """It ended with an error, and had asked for nothing that takes a user or a credential."""
        return (
            self.ended is Ended.BY_ITSELF
            and self.exit_code != 0
            and not self.visits
            and not self.calls(Endpoint.REGISTRATION, Endpoint.AUTHORIZATION, Endpoint.TOKEN)
            and all(each.call.header("authorization") is None for each in self.calls())
        )

    def calls(self, *endpoints: Endpoint, party: str | None = None) -> list[Heard]:
        """What the agent itself asked for."""
        return [
            each
            for each in self.heard
            if not each.by_browser
            and (not endpoints or each.call.endpoint in endpoints)
            and party in (None, each.party)
        ]

    def last(self) -> Exchange | None:
        """How far the agent came: the last thing that it asked for."""
        asked = self.calls()
        return asked[-1].exchange() if asked else None

    def request_of(self, visit: Visit) -> Exchange | None:
        """The authorization request of a visit, where it came to anybody."""
        where = urlsplit(visit.url)
        asked = (
            each.exchange()
            for each in self.heard
            if each.by_browser and (found := urlsplit(each.url)).path == where.path
            if parse_qs(found.query, keep_blank_values=True) == visit.query
        )
        return next(asked, None)

    def authorizations(self) -> int:
        """How often the user was sent to authorize, or a refresh token was used in place of it.

        An agent that looks at the page itself, over and over, does not leave the user to authorize.
        """
        return max(len(self.visits), len(self.calls(Endpoint.AUTHORIZATION))) + len(self.refreshes())

    def refreshes(self) -> list[Heard]:
        """The token requests with a refresh token."""
        return [
            each
            for each in self.calls(Endpoint.TOKEN)
            if fields(each.call).get("grant_type") == "refresh_token"
        ]

    def output(self) -> bytes:
        return self.output_file.read_bytes()


def run_once(
    spec: Launch,
    *,
    what: str,
    told: Mapping[str, str],
    world: AgentWorld,
    browser: BrowserCommand,
    visits: Visits,
    until: Callable[[], bool],
    output_file: Path,
) -> Run:
    """Launches the agent, plays its user until it ends, and leaves no process of it behind."""
    command = tuple(part.replace("{service_url}", world.service.url) for part in spec.command)
    before, served_before, started = _last(world), len(world.service.served), time.monotonic()
    killed = False
    browser.serves(visits.opened)
    running = launch(replace(spec, command=command), output_file=output_file, env_extra=told)
    try:
        running.end_input()
        reasons = {Ended.STOPPED: lambda: _too_much(world, before, visits), Ended.ASKED_TO: until}
        ended = _watched(running, visits, reasons, started + spec.timeout_s)
        took_s = time.monotonic() - started
        killed = ended is Ended.ASKED_TO and not running.ask_to_end(_LAST_WORDS_S)
    finally:
        browser.serves(None)
        visits.close()
        # Who was asked once, and has not ended in time, is not asked again.
        running.clear_away() if killed or running.exit_code() is not None else running.stop()
        _sweep(told[_MARK])
    return Run(
        what=what,
        ended=ended,
        exit_code=None if ended is Ended.AT_LIMIT else running.exit_code(),
        took_s=round(took_s, 3),
        limit_s=spec.timeout_s,
        heard=tuple(world.heard(since=before)),
        visits=tuple(visits.made),
        others=tuple(visits.others),
        served=len(world.service.served) > served_before,
        output_file=output_file,
        dropped=running.dropped,
        killed=killed,
    )


def _watched(
    running: Running, visits: Visits, reasons: Mapping[Ended, Callable[[], bool]], until: float
) -> Ended:
    """How it ends: by itself, or at its limit, or for one of these reasons, where it is asked to."""
    reading = _Reading(running, visits)
    while running.wait(_POLL_S) is None:
        for how, holds in reasons.items():
            if holds():
                return how
        if time.monotonic() > until:
            return Ended.AT_LIMIT
        reading.on()
        visits.tick()
    return Ended.BY_ITSELF


class _Reading:
    """The user reads along: whole lines at once, and a line without an end when nothing more comes."""

    def __init__(self, running: Running, visits: Visits) -> None:
        self._running = running
        self._visits = visits
        self._seen = 0
        self._changed_at = 0.0

    def on(self) -> None:
        printed, now = self._running.printed, time.monotonic()
        if printed != self._seen and self._seen <= _READ_FOR_ADDRESSES:
            self._seen, self._changed_at = printed, now
            self._visits.read(self._running.output_since(0)[:_READ_FOR_ADDRESSES].rpartition("\n")[0])
        elif self._changed_at and now - self._changed_at > _LINE_IS_OVER_S:
            self._changed_at = 0.0
            self._visits.read(self._running.output_since(0)[:_READ_FOR_ADDRESSES])


def _last(world: AgentWorld) -> int:
    return max((each.call.ordinal for each in world.heard()), default=0)


def _too_much(world: AgentWorld, before: int, visits: Visits) -> bool:
    if len(visits.made) >= MOST_AUTHORIZATIONS:
        return True
    heard = [each for each in world.heard(since=before) if not each.by_browser]
    grants = sum(each.call.endpoint is Endpoint.TOKEN for each in heard)
    newcomers = sum(each.call.endpoint is Endpoint.REGISTRATION for each in heard)
    return max(grants, newcomers) >= MOST_AUTHORIZATIONS or len(heard) >= MOST_CALLS


def _sweep(state_dir: str) -> None:
    """Ends what an agent has put out of its group: such processes still have its environment.

    Where processes cannot be read like files, what has left its group is not found.
    """
    wanted = f"{_MARK}={state_dir}".encode()
    for entry in _PROCESSES.iterdir() if _PROCESSES.is_dir() else ():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
