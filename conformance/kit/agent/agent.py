"""An agent under test: installs of it, each in a world of its own, and what they did there."""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote_plus

from gateproof.conformance.kit.agent.browser import BrowserCommand
from gateproof.conformance.kit.agent.cooldown import Patience
from gateproof.conformance.kit.agent.launch import Ended, Run, run_once
from gateproof.conformance.kit.agent.logs import Logbook
from gateproof.conformance.kit.agent.visits import Deliver, Visits, honest
from gateproof.conformance.kit.agent.world import SCOPES, AgentWorld, Heard
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.agent_endpoints import fields
from gateproof.fakes.gateway.script import Endpoint

# What the runs of the install are called at which all checks look.
STORY = (
    "the normal run",
    "a second run of the install",
    "a run after the tokens have expired",
    "a run after the next ones have expired as well",
)
_HERE = ("127.0.0.1", "localhost", "::1")
_CA_VARIABLES = ("GATEPROOF_CA_FILE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One authorization of one run: what the agent drew for it, where the exchange has shown the verifier.

    Two are alike by what was drawn, whatever the request looked like in which it stood, and whose it was.
    """

    state: str | None = field(repr=False)
    challenge: str | None = field(repr=False)
    verifier: str | None = field(repr=False)
    client_id: str | None = field(repr=False, compare=False, default=None)
    request: Exchange | None = field(repr=False, compare=False, default=None)
    install: str = field(compare=False, default="")


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
    patience: Patience = field(default_factory=Patience)
    # What a launch waits for, where other workers launch the same agent.
    turn: Callable[[], AbstractContextManager[None]] = nullcontext
    # All runs, and of them those that count.
    launched: list[Run] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def launch(self, what: str, deliver: Deliver = honest, until: Callable[[], bool] = bool) -> Run:
        """One run of the agent, with a user who approves, and a browser that delivers like this.

        `what` it is for is what a reader is told of it. Where it goes on `until` something has happened, it
        is asked to end then.
        """
        with self.turn():
            run = run_once(
                self.spec,
                what=what,
                told=self.environment(),
                world=self.world,
                browser=self.browser,
                visits=Visits(self.world, deliver),
                until=until,
                output_file=self.folder / f"output-{len(self.launched) + 1}",
            )
        self.launched.append(run)
        self.runs.append(run)
        self.ran(self, run)
        return run

    def launch_after_trouble(self, what: str) -> Run:
        """The next run; where the agent stands back, the one that counts is one of a minute later.

        Who does not stand back when it is launched again at once may have waited for a moment, where it asked
        nobody for anything before; else it has not waited, and the first counts.
        """
        place = len(self.runs)
        run = self.launch(what)
        if run.stood_back and self.patience.left:
            again = self.launch(f"{what}, once more at once")
            if again.stood_back:
                self.patience.wait()
                again = self.launch(f"{what}, once more after a while")
                self.patience.left = not again.stood_back
                run = again
            elif again.done and not run.calls():
                run = again
        self.runs[place:] = [run]
        return run

    def environment(self) -> Mapping[str, str]:
        """What the agent finds in its environment."""
        certificate, key = self.certificate
        # Many clients send what is for this machine to a proxy as well, unless they are told not to.
        direct = ",".join(dict.fromkeys([os.environ.get("NO_PROXY", ""), *_HERE])).lstrip(",")
        return {
            "NO_PROXY": direct,
            "no_proxy": direct,
            # A user at a terminal sees a line at once; into a pipe, Python prints what fills a buffer.
            "PYTHONUNBUFFERED": "1",
            **dict.fromkeys(_CA_VARIABLES, str(self.ca_file)),
            "GATEPROOF_SERVICE_URL": self.world.service.url,
            "GATEPROOF_STATE_DIR": str(self.folder / "state"),
            "GATEPROOF_TLS_CERT_FILE": str(certificate),
            "GATEPROOF_TLS_KEY_FILE": str(key),
            "GATEPROOF_CALLBACK_URL": self.callback_url,
            "GATEPROOF_SCOPES": " ".join(SCOPES),
            "BROWSER": str(self.browser.path),
        }


@dataclass(frozen=True, kw_only=True)
class Agents:
    """Installs of the agent: fresh ones, and one whose normal runs all checks share.

    Agents may take long to start. What a normal run shows is shown once, and looked at by every check that is
    about it; only a check that changes the world launches an agent of its own.
    """

    new_install: Callable[..., Install]
    shared: Callable[[], Install]
    # Under a name, an install in which something was played once; looked at again, it stays as it was.
    scene: Callable[[str, Callable[[Install], None]], Install]
    attempts: list[Attempt]
    logs: Logbook

    def install(self, *, metadata_apart: bool = False, wrong: Mapping[str, str] | None = None) -> Install:
        """A fresh install in a world of its own; both are gone after the check."""
        return self.new_install(metadata_apart=metadata_apart, wrong=wrong or {})

    def normal(self) -> Run:
        """The first run of the shared install, in which nothing goes wrong."""
        return self.story(1)

    def story(self, number: int) -> Run:
        """A run of the shared install: the first, one more, then some after the end of tokens."""
        install = self.shared()
        while len(install.runs) < number:
            if len(install.runs) >= 2:
                end_tokens(install.world)
            install.launch(STORY[min(len(install.runs), len(STORY) - 1)])
        return install.runs[number - 1]

    def runs(self) -> list[Run]:
        """The normal run, and those after it that came to an end: what holds for one has to hold for all."""
        later = (self.story(number) for number in (2, 3))
        return [ended(self.normal()), *(run for run in later if run.ended is not Ended.AT_LIMIT)]


def end_tokens(world: AgentWorld) -> None:
    """The agent's access tokens have expired, and its refresh tokens are worth nothing."""
    world.desk.end_access_tokens()
    world.desk.end_refresh_tokens()


def works(run: Run) -> Run:
    """The normal run ends well: without it, nothing that does not happen means anything."""
    require.that(
        run.done, run.what, expected="exit code 0 and the orders read", got=run.said(), exchange=run.last()
    )
    return run


def ended(run: Run) -> Run:
    """The run has not been stopped at its time limit: such a run proves nothing."""
    require.that(
        run.ended is not Ended.AT_LIMIT,
        run.what,
        expected="a run that ends by itself: see timeout_s under [launch]",
        got=run.said(),
        exchange=run.last(),
    )
    return run


def in_time(runs: Sequence[Run]) -> list[Run]:
    """The first of these runs, which has to end, and those after it until one is stopped at its limit."""
    return [ended(runs[0]), *takewhile(lambda run: run.ended is not Ended.AT_LIMIT, runs[1:])]


def all_in_time(runs: Sequence[Run]) -> None:
    """No run is left to judge: where one was stopped at its time limit, what it shows is open."""
    for run in runs:
        if run.ended is Ended.AT_LIMIT:
            raise LeftOut(f"{run.what} was stopped at its time limit: see timeout_s under [launch]")


def carried_out(run: Run) -> None:
    """The rule wants the operation to be done in the end, where its user's browser can bring the redirect."""
    if run.elsewhere is not None:
        works(run)
    expect.that(
        run.done, run.what, expected="exit code 0 and the orders read", got=run.said(), exchange=run.last()
    )


def exchanges(run: Run) -> list[Heard]:
    """What the agent sent to a token endpoint, but for what it renewed without its user."""
    return [
        each for each in run.calls(Endpoint.TOKEN) if fields(each.call).get("grant_type") != "refresh_token"
    ]


def exchanged_with(run: Run, code: str) -> list[Heard]:
    """The token requests in which this code stands, in whatever form."""
    return [each for each in run.calls(Endpoint.TOKEN) if code in unquote_plus(each.call.text())]


def attempts_of(run: Run, install: str = "") -> list[Attempt]:
    """The authorizations of a run of this install, with the verifiers that belong to their codes.

    An address that is opened twice, by two ways to open a browser, is one authorization, unless the agent has
    made an exchange of what came of either.
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
        )
        for visit in sorted((*used, *unused.values()), key=lambda visit: visit.number)
    ]


def s256(verifier: str) -> str:
    """The challenge that belongs to a verifier (RFC 7636 section 4.2)."""
    return urlsafe_b64encode(sha256(verifier.encode(errors="surrogatepass")).digest()).rstrip(b"=").decode()
