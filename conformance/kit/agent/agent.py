"""An agent under test: its installs, each in its own world, and what their runs did."""

from __future__ import annotations

import signal
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from threading import Barrier
from urllib.parse import unquote_plus

from gateproof.conformance.kit.agent.browser import BrowserCommand
from gateproof.conformance.kit.agent.cooldown import CooldownWait
from gateproof.conformance.kit.agent.diagnosis import advice
from gateproof.conformance.kit.agent.launch import Ended, Run, Stop, run_once
from gateproof.conformance.kit.agent.logs import Logbook
from gateproof.conformance.kit.agent.visits import Deliver, Visits, deliver_unchanged
from gateproof.conformance.kit.agent.world import METADATA, SCOPES, AgentWorld, ReceivedRequest
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.targets.no_proxy import without_proxy
from gateproof.conformance.targets.party_names import hosts_below
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.agent_endpoints import fields
from gateproof.fakes.gateway.script import Endpoint

# Names of the runs of the shared install.
SHARED_RUNS = (
    "the normal run",
    "a second run of the install",
    "a run after the tokens have expired",
    "a run after the next ones have expired as well",
)
_CA_VARIABLES = ("GATEPROOF_CA_FILE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One authorization of one run: state, challenge and, if a token request revealed it, the verifier.

    Two attempts are equal if these three values are equal. The client and the rest of the request do not
    count.
    """

    state: str | None = field(repr=False)
    challenge: str | None = field(repr=False)
    verifier: str | None = field(repr=False)
    client_id: str | None = field(repr=False, compare=False, default=None)
    request: Exchange | None = field(repr=False, compare=False, default=None)
    install: str = field(compare=False, default="")
    # The number of the process that was launched.
    process: int = field(compare=False, default=0)


@dataclass(kw_only=True)
class Install:
    """One install: its state folder and callback address stay the same from run to run."""

    world: AgentWorld
    spec: Launch
    browser: BrowserCommand
    folder: Path
    callback_url: str
    ca_file: Path
    certificate: tuple[Path, Path]
    ran: Callable[[Install, Run], None]
    patience: CooldownWait = field(default_factory=CooldownWait)
    # A lock around each launch: other workers may launch the same agent.
    turn: Callable[[], AbstractContextManager[None]] = nullcontext
    # All runs; `runs` holds those that count.
    launched: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def launch(
        self,
        what: str,
        deliver: Deliver = deliver_unchanged,
        until: Callable[[], bool] = bool,
        ends_by: int = signal.SIGTERM,
    ) -> Run:
        """One run of the agent with a user who approves; `deliver` decides how the redirect is delivered.

        `what` names the purpose of the run in reports. If `until` becomes true while the agent runs, the
        agent is asked to end by the signal `ends_by`.
        """
        with self.turn():
            run = run_once(
                self.spec,
                what=what,
                told=self.environment(),
                world=self.world,
                browser=self.browser,
                visits=Visits(self.world, deliver),
                stop=Stop(when=until, by=ends_by),
                output_file=self.folder / f"output-{len(self.launched) + 1}",
            )
        self.launched.append(run)
        self.runs.append(run)
        self.ran(self, run)
        return run

    def launch_after_trouble(self, what: str) -> Run:
        """The next run. If the agent is in a cool-down, the run that counts is one a minute later.

        After a failed run, the agent is launched again at once. If this run fails in the same way, there is a
        cool-down. If it works and the first one made no request, the second one counts: the first may only
        have waited a moment. In all other cases there was no cool-down, and the first one counts.
        """
        place = len(self.runs)
        run = self.launch(what)
        if run.in_cooldown and self.patience.left:
            again = self.launch(f"{what}, once more at once")
            if again.in_cooldown:
                self.patience.wait()
                again = self.launch(f"{what}, once more after a while")
                self.patience.left = not again.in_cooldown
                run = again
            elif again.done and not run.calls():
                run = again
        self.runs[place:] = [run]
        return run

    @property
    def temporary(self) -> Path:
        """Its folder for temporary files, which stays from run to run."""
        return self.folder / "tmp"

    def environment(self) -> Mapping[str, str]:
        """The environment variables of the agent."""
        certificate, key = self.certificate
        return {
            **without_proxy(hosts_below(self.world.names)),
            # At a terminal, Python prints line by line. Into a pipe, it prints only when its buffer is full.
            "PYTHONUNBUFFERED": "1",
            **dict.fromkeys(_CA_VARIABLES, str(self.ca_file)),
            "GATEPROOF_SERVICE_URL": self.world.service.url,
            "GATEPROOF_STATE_DIR": str(self.folder / "state"),
            "TMPDIR": str(self.temporary),
            "GATEPROOF_TLS_CERT_FILE": str(certificate),
            "GATEPROOF_TLS_KEY_FILE": str(key),
            "GATEPROOF_CALLBACK_URL": self.callback_url,
            "GATEPROOF_SCOPES": " ".join(SCOPES),
            "BROWSER": str(self.browser.path),
        }


@dataclass(frozen=True, kw_only=True)
class Agents:
    """Installs of the agent: new ones, and one whose normal runs are shared by all checks.

    Agents may start slowly. So the normal runs happen once, and every check that needs only them reads their
    result. A check launches an agent of its own only if it changes the world.
    """

    new_install: Callable[..., Install]
    shared: Callable[[], Install]
    # Returns the install with this name. On the first call, the function plays the scene in a new install;
    # later calls return the same install unchanged.
    scene: Callable[[str, Callable[[Install], None]], Install]
    attempts: list[Attempt]
    logs: Logbook

    def install(self, *, metadata_apart: bool = False, wrong: Mapping[str, str] | None = None) -> Install:
        """A new install in a world of its own; both are removed after the check."""
        return self.new_install(metadata_apart=metadata_apart, wrong=wrong or {})

    def at_once(self, number: int, what: str) -> list[Run]:
        """The first runs of this many new installs, all started at the same moment."""
        installs = [self.new_install(metadata_apart=False, wrong={}, own_browser=True) for _ in range(number)]
        start = Barrier(number)

        def launched(install: Install) -> Run:
            start.wait()
            return install.launch(what)

        with ThreadPoolExecutor(number) as pool:
            return list(pool.map(launched, installs))

    def normal(self) -> Run:
        """The first run of the shared install, in which nothing goes wrong."""
        return self.story(1)

    def story(self, number: int) -> Run:
        """Run `number` of the shared install: two normal runs, then runs after the tokens have expired."""
        install = self.shared()
        while len(install.runs) < number:
            if len(install.runs) >= 2:
                end_tokens(install.world)
            install.launch(SHARED_RUNS[min(len(install.runs), len(SHARED_RUNS) - 1)])
        return install.runs[number - 1]

    def runs(self) -> list[Run]:
        """The normal run, and the next two if they ended in time: a rule has to hold in each of them."""
        later = (self.story(number) for number in (2, 3))
        return [require_ended(self.normal()), *(run for run in later if run.ended is not Ended.AT_LIMIT)]


def end_tokens(world: AgentWorld) -> None:
    """The agent's access tokens expire, and its refresh tokens become invalid."""
    world.gateway_endpoints.end_access_tokens()
    world.gateway_endpoints.end_refresh_tokens()


def require_done(run: Run) -> Run:
    """Requires that the run succeeds: otherwise the absence of a request proves nothing."""
    require.that(
        run.done,
        run.what,
        expected="exit code 0 and the orders read",
        got=f"{run.said()}{advice(run)}",
        exchange=run.last(),
    )
    return run


def require_ended(run: Run) -> Run:
    """Requires that the run ended before its time limit: otherwise it proves nothing."""
    require.that(
        run.ended is not Ended.AT_LIMIT,
        run.what,
        expected="a run that ends by itself: see timeout_s under [launch]",
        got=run.said(),
        exchange=run.last(),
    )
    return run


def runs_in_time(runs: Sequence[Run]) -> list[Run]:
    """The runs before the first one that reached its time limit; the first run has to end in time."""
    return [require_ended(runs[0]), *takewhile(lambda run: run.ended is not Ended.AT_LIMIT, runs[1:])]


def require_all_in_time(runs: Sequence[Run]) -> None:
    """Raises LeftOut if a run was stopped at its time limit: its result is unknown."""
    for run in runs:
        if run.ended is Ended.AT_LIMIT:
            raise LeftOut(f"{run.what} was stopped at its time limit: see timeout_s under [launch]")


def expect_done(run: Run) -> None:
    """Expects that the operation succeeded; only requires it if a redirect could not be delivered."""
    if run.undeliverable_host is not None:
        require_done(run)
    expect.that(
        run.done,
        run.what,
        expected="exit code 0 and the orders read",
        got=f"{run.said()}{advice(run)}",
        exchange=run.last(),
    )


# An agent need not read metadata elsewhere.
READS_NO_METADATA_ELSEWHERE = "the agent reads no metadata on a host other than the service's"


def came_to_metadata_elsewhere(install: Install) -> bool:
    """True if the agent connected to the host of metadata that are not on the service's origin."""
    return install.world.parties[METADATA].came > 0


def leave_out_without_metadata_elsewhere(install: Install, run: Run) -> None:
    """Raises LeftOut if a run did not succeed because the agent uses no metadata elsewhere.

    It may not connect there, or not believe that they are about the service (RFC 9728 section 3.3).
    """
    if run.done:
        return
    if not came_to_metadata_elsewhere(install):
        raise LeftOut(READS_NO_METADATA_ELSEWHERE)
    leave_out_with_unused_metadata(run)


def leave_out_with_unused_metadata(run: Run, *, end: str = "") -> None:
    """Raises LeftOut if a run ended with the metadata at a URL with this end.

    The agent may require the URL that it called.

    RFC 9728 section 3.3 compares it with `resource`, which names the origin alone in the normal run, too.
    """
    asked = (each.call for each in run.calls(Endpoint.METADATA))
    got = any(call.status == 200 and call.target.endswith(end) for call in asked)
    if run.done:
        return
    if got and not run.visits and not run.calls(Endpoint.DISCOVERY, Endpoint.REGISTRATION, Endpoint.TOKEN):
        raise LeftOut("the agent does not use metadata whose `resource` is not the URL that it called")


def exchanges(run: Run) -> list[ReceivedRequest]:
    """The agent's token requests except refreshes."""
    return [
        each for each in run.calls(Endpoint.TOKEN) if fields(each.call).get("grant_type") != "refresh_token"
    ]


def exchanges_of_code(run: Run, code: str) -> list[ReceivedRequest]:
    """The token requests that contain this code, in any form."""
    return [each for each in run.calls(Endpoint.TOKEN) if code in unquote_plus(each.call.text())]


def attempts_of(run: Run, install: str = "") -> list[Attempt]:
    """The authorizations of a run, each with the verifier that was sent with its code.

    If the same URL is opened twice, for example printed and opened, this counts once, unless the agent
    exchanged a code of one of the visits.
    """
    forms = [fields(each.call) for each in exchanges(run)]
    verifiers = {form.get("code", ""): form.get("code_verifier") for form in forms}
    used = [visit for visit in run.visits if any(code in verifiers for code in visit.codes())]
    addresses = {visit.url for visit in used}
    unused = {visit.url: visit for visit in reversed(run.visits) if visit.url not in addresses}
    return [
        Attempt(
            state=visit.value("state"),
            challenge=visit.value("code_challenge"),
            verifier=next((verifiers[code] for code in visit.codes() if code in verifiers), None),
            client_id=visit.value("client_id"),
            request=run.request_of(visit),
            install=install,
            process=run.process,
        )
        for visit in sorted((*used, *unused.values()), key=lambda visit: visit.number)
    ]


def s256(verifier: str) -> str:
    """The S256 code challenge of a verifier (RFC 7636 section 4.2)."""
    return urlsafe_b64encode(sha256(verifier.encode(errors="surrogatepass")).digest()).rstrip(b"=").decode()
