"""Launches an agent once: watches the run, limits it, and stops every process that it started."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from gateproof.conformance.kit.agent.browser import BrowserCommand
from gateproof.conformance.kit.agent.visits import Visit, Visits
from gateproof.conformance.kit.agent.world import AgentWorld, ReceivedRequest
from gateproof.conformance.targets.launch import Running, launch
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.agent_endpoints import fields
from gateproof.fakes.gateway.script import Endpoint

_POLL_S = 0.02
# How much of the output is searched for the address for the user: it is expected near the beginning.
_READ_FOR_ADDRESSES = 1024 * 1024
_LINE_IS_OVER_S = 0.5
# Time for cleaning up after the request to end.
_SHUTDOWN_S = 7.0
# Exit codes of processes that a signal ended, and the codes that a shell reports for them.
_OF_SIGNALS = {
    code for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL) for code in (-number, 128 + number)
}
# Rule AGENT-15 allows three authorizations and fails ten; an agent that makes ten is stopped.
MOST_AUTHORIZATIONS = 10
# No rule limits refreshes; an agent that goes on for longer does not end.
MOST_REFRESHES = 20
# This many requests are unbounded as well, even if they change nothing.
MOST_CALLS = 200


class Ended(StrEnum):
    """How a run ended."""

    BY_ITSELF = "by itself"
    AT_LIMIT = "at its time limit"
    STOPPED = "stopped after too many requests"
    ASKED_TO = "asked to end"


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything known about one run; `what` is its purpose.

    `output_file` holds the output up to a limit; `dropped` is how many bytes were beyond it.
    """

    what: str
    ended: Ended
    exit_code: int | None
    took_s: float
    limit_s: float
    heard: tuple[ReceivedRequest, ...] = field(repr=False)
    visits: tuple[Visit, ...] = field(repr=False)
    served: bool
    output_file: Path
    dropped: int
    # Addresses that the agent opened in the browser and that are no authorization requests.
    others: tuple[str, ...] = field(default=(), repr=False)
    # The number of the launched process.
    process: int = 0
    # The environments with which the agent started the browser.
    environments: tuple[str, ...] = field(default=(), repr=False)
    # The deviations of the gateways around the agent from the specification.
    deviations: tuple[str, ...] = ()
    # True if a process of the agent did not end in time after it was asked to.
    killed: bool = False

    def said(self) -> str:
        """How it ended, in a few words."""
        return self._how() + self._undelivered()

    def _how(self) -> str:
        if self.ended is Ended.AT_LIMIT:
            return self._at_limit()
        if self.ended is not Ended.BY_ITSELF:
            return f"a run that was {self.ended.value}"
        return f"exit code {self.exit_code} and {'the orders' if self.served else 'no orders'} read"

    def _undelivered(self) -> str:
        host = self.undeliverable_host
        return f"; the redirect to {host} was not delivered: it is not on this machine" if host else ""

    @property
    def undeliverable_host(self) -> str | None:
        """The host of a redirect that is not on this machine: the browser cannot deliver it."""
        return next((host for visit in self.visits if (host := visit.undeliverable_host())), None)

    def _at_limit(self) -> str:
        return f"a run that was stopped {self.ended.value} of {self.limit_s:g} s"

    @property
    def cut_off(self) -> bool:
        """True if a signal ended the agent or its shell after it was asked to end or stopped."""
        return self.ended in {Ended.ASKED_TO, Ended.STOPPED} and self.exit_code in _OF_SIGNALS

    @property
    def done(self) -> bool:
        """The operation was carried out, and the agent ended by itself with exit code 0."""
        return self.ended is Ended.BY_ITSELF and self.exit_code == 0 and self.served

    @property
    def in_cooldown(self) -> bool:
        """It ended with an error before it asked the user or the gateway for anything (cool-down).

        It may have sent a token that was refused: it keeps its tokens until there are new ones.
        """
        return (
            self.ended is Ended.BY_ITSELF
            and self.exit_code != 0
            and not self.visits
            and not self.calls(Endpoint.REGISTRATION, Endpoint.AUTHORIZATION, Endpoint.TOKEN)
            and all(
                each.call.header("authorization") is None or each.call.status == 401 for each in self.calls()
            )
        )

    def calls(self, *endpoints: Endpoint, party: str | None = None) -> list[ReceivedRequest]:
        """The requests of the agent itself, without those of the browser."""
        return [
            each
            for each in self.heard
            if not each.by_browser
            and (not endpoints or each.call.endpoint in endpoints)
            and party in (None, each.party)
        ]

    def last(self) -> Exchange | None:
        """The last request of the agent."""
        asked = self.calls()
        return asked[-1].exchange() if asked else None

    def request_of(self, visit: Visit) -> Exchange | None:
        """The authorization request of a visit, if one of the parties received it."""
        where = urlsplit(visit.url)
        asked = (
            each.exchange()
            for each in self.heard
            if each.by_browser and (found := urlsplit(each.url)).path == where.path
            if parse_qs(found.query, keep_blank_values=True) == visit.query
        )
        return next(asked, None)

    def authorizations(self) -> int:
        """How often the user was sent to authorize.

        The number of visits or of the agent's own requests for the authorization page counts, whichever is
        larger. A refresh is no authorization: it does not involve the user.
        """
        return max(len(self.visits), len(self.calls(Endpoint.AUTHORIZATION)))

    def refreshes(self) -> list[ReceivedRequest]:
        """The token requests with a refresh token."""
        return [
            each
            for each in self.calls(Endpoint.TOKEN)
            if fields(each.call).get("grant_type") == "refresh_token"
        ]

    def output(self) -> bytes:
        return self.output_file.read_bytes()


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """When an agent is asked to end before it does so by itself, and by which signal."""

    when: Callable[[], bool] = bool
    by: int = signal.SIGTERM


def run_once(
    spec: Launch,
    *,
    what: str,
    told: Mapping[str, str],
    world: AgentWorld,
    browser: BrowserCommand,
    visits: Visits,
    stop: Stop,
    output_file: Path,
) -> Run:
    """Launches the agent, acts as its user until it ends, and leaves none of its processes behind."""
    command = tuple(part.replace("{service_url}", world.service.url) for part in spec.command)
    before, served_before, started = _last(world), len(world.service.served), time.monotonic()
    known = world.count()
    killed = False
    browser.set_handler(visits.opened)
    running = launch(replace(spec, command=command), output_file=output_file, env_extra=told)
    try:
        running.end_input()
        reasons = {Ended.STOPPED: lambda: _too_much(world, before, known, visits), Ended.ASKED_TO: stop.when}
        ended = _watched(running, visits, reasons, started + spec.timeout_s)
        took_s = time.monotonic() - started
        killed = ended is Ended.ASKED_TO and not running.ask_to_end(_SHUTDOWN_S, stop.by)
    finally:
        browser.set_handler(None)
        visits.close()
        # An agent that ignored the request to end is not asked a second time.
        running.clear_away() if killed or running.exit_code() is not None else running.stop()
    return Run(
        what=what,
        ended=ended,
        exit_code=None if ended is Ended.AT_LIMIT else running.exit_code(),
        took_s=round(took_s, 3),
        limit_s=spec.timeout_s,
        heard=tuple(world.heard(since=before)),
        visits=tuple(visits.made),
        others=tuple(visits.others),
        process=running.pid,
        environments=tuple(visits.environments),
        served=len(world.service.served) > served_before,
        output_file=output_file,
        dropped=running.dropped,
        killed=killed,
        deviations=tuple(world.deviations),
    )


def _watched(
    running: Running, visits: Visits, reasons: Mapping[Ended, Callable[[], bool]], until: float
) -> Ended:
    """Waits for the end: by itself, at the time limit, or for the first of these reasons that holds."""
    reader = _OutputReader(running, visits)
    while running.wait(_POLL_S) is None:
        for how, holds in reasons.items():
            if holds():
                return how
        if time.monotonic() > until:
            return Ended.AT_LIMIT
        reader.read_more()
        visits.tick()
    return Ended.BY_ITSELF


class _OutputReader:
    """Passes the output to the user: whole lines at once, an unfinished line after a short silence."""

    def __init__(self, running: Running, visits: Visits) -> None:
        self._running = running
        self._visits = visits
        self._seen = 0
        self._changed_at = 0.0

    def read_more(self) -> None:
        printed, now = self._running.printed, time.monotonic()
        if printed != self._seen and self._seen <= _READ_FOR_ADDRESSES:
            self._seen, self._changed_at = printed, now
            self._visits.read(self._running.output_since(0)[:_READ_FOR_ADDRESSES].rpartition("\n")[0])
        elif self._changed_at and now - self._changed_at > _LINE_IS_OVER_S:
            self._changed_at = 0.0
            self._visits.read(self._running.output_since(0)[:_READ_FOR_ADDRESSES])


def _last(world: AgentWorld) -> int:
    return max((each.call.ordinal for each in world.heard()), default=0)


def _too_much(world: AgentWorld, before: int, known: int, visits: Visits) -> bool:
    """True if there are too many requests; before the run, `before` was the last of `known` ones."""
    if len(visits.made) >= MOST_AUTHORIZATIONS:
        return True
    # This is asked fifty times a second, so the requests are only looked at if there are enough of them.
    if world.count() - known < MOST_AUTHORIZATIONS:
        return False
    heard = [each for each in world.heard(since=before) if not each.by_browser]
    grants = [each for each in heard if each.call.endpoint is Endpoint.TOKEN]
    refreshes = sum(fields(each.call).get("grant_type") == "refresh_token" for each in grants)
    registrations = sum(each.call.endpoint is Endpoint.REGISTRATION for each in heard)
    return (
        max(len(grants) - refreshes, registrations) >= MOST_AUTHORIZATIONS
        or refreshes >= MOST_REFRESHES
        or len(heard) >= MOST_CALLS
    )
