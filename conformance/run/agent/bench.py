"""The bench for checks of an agent: creates installs with their worlds, and records what the agent did."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from threading import Lock

from gateproof.conformance.kit.agent.agent import Agents, Attempt, Install, attempts_of
from gateproof.conformance.kit.agent.browser import BrowserCommand
from gateproof.conformance.kit.agent.cooldown import CooldownWait
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.launch_lock import LaunchLock
from gateproof.conformance.kit.agent.logs import Logbook, logs_below
from gateproof.conformance.kit.agent.output import (
    ADDRESSES,
    ENVIRONMENTS,
    PAGES,
    REQUESTS,
    UNSEARCHED,
    Printed,
    Search,
    printed_in,
)
from gateproof.conformance.kit.agent.pkce_in_output import verifiers_in
from gateproof.conformance.kit.agent.world import AgentWorld, ReceivedRequest
from gateproof.conformance.kit.gateway.received import Leak, RunTotals
from gateproof.conformance.run.bench import Bench
from gateproof.conformance.run.context.agent import AgentContext
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.keyring import Keyring
from gateproof.conformance.wire.ports import kept_port
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Endpoint
from gateproof.reports.redaction import Redactor

CALLBACK_PATH = "/callback"


class AgentBench(Bench):
    """Keeps state over all checks of a worker; each check gets an empty record and its own installs."""

    context: AgentContext

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        self.context = context
        self._lasting = ExitStack()
        self._folder = Path(tempfile.mkdtemp(prefix="agent-", dir=context.folder))
        self._loop = self._lasting.enter_context(Loop())
        self._browser = self._lasting.enter_context(BrowserCommand(self._folder))
        self._of_check = self._lasting.enter_context(ExitStack())
        self._shared: Install | None = None
        self._scenes: dict[str, Install] = {}
        self._installs = 0
        self._recorded_runs: list[tuple[Install, Run]] = []
        self._attempts: list[Attempt] = []
        self._check = ""
        self._survey = RunTotals()
        self._secrets: dict[str, set[str]] = {}
        self._unsearched = 0
        self._patience = CooldownWait()
        # Installs can run at the same time.
        self._recording = Lock()
        self._turns = LaunchLock(context.folder / "turns")
        self._logs = Logbook(context.target.logs.files)
        self.agents = Agents(
            new_install=self._new,
            shared=self._share,
            scene=self._scene,
            attempts=self._attempts,
            logs=self._logs,
        )

    def survey(self) -> RunTotals:
        """The secrets found in the output and logs of all launches, including failed ones."""
        pieces = self._logs.pieces()
        logged = printed_in(pieces, self._secrets)
        self._survey.leaks += [self._leak("log", "all runs", each) for each in logged]
        self._survey.known = {kind: len(values) for kind, values in self._secrets.items()} | {
            UNSEARCHED["output"]: self._unsearched,
        }
        self._survey.redeemed = len(self._secrets.get("access_token", ()))
        return self._survey

    def begin(self, check_id: str) -> None:
        """Starts a check: closes the worlds of the last one, and clears the record."""
        self._check = check_id
        self.note_begin(check_id)
        self._of_check.close()
        self._recorded_runs.clear()

    def whereabouts(self) -> Iterator[tuple[str, str]]:
        """The environment of the last launch, for launching the agent by hand."""
        for install, _ in self._recorded_runs[-1:]:
            yield from install.environment().items()
            yield "CA_FILE", str(install.ca_file)

    def close(self) -> None:
        self._lasting.close()

    def redactor(self) -> Redactor:
        keyring = Keyring()
        for install, _ in self._recorded_runs:
            for kind, values in install.world.secrets().items():
                for value in values:
                    keyring.add(Secret(kind, value))
            for desk in (*install.world.named, install.world.attacker):
                keyring.public(desk.site.resource_id, desk.indicator, *desk.clients)
        return keyring.redactor()

    def place_of(self, exchange: Exchange, /) -> int | None:
        """The position of an equal exchange in the shown ones; the journal creates new objects each time."""
        exchanges = self.exchanges()
        return exchanges.index(exchange) if exchange in exchanges else None

    def scenario(self) -> str:
        """The purposes of the agent's launches, by install."""
        installs: dict[int, list[str]] = {}
        for install, run in self._recorded_runs:
            installs.setdefault(id(install), []).append(run.what)
        return "; ".join(
            f"install {number}: {_grouped(runs)}" for number, runs in enumerate(installs.values(), 1)
        )

    def exchanges(self) -> list[Exchange]:
        """The requests of the agent, with their responses."""
        return [each.exchange() for _, run in self._recorded_runs for each in run.heard]

    def _share(self) -> Install:
        """The install that all checks share; its launches are in the record of each check that uses it."""
        if self._shared is None:
            self._shared = self._install(self._lasting, metadata_apart=False, wrong={})
        return self._seen(self._shared)

    def _scene(self, name: str, play: Callable[[Install], None]) -> Install:
        """The install of a scene: played on first use, then never launched again."""
        if name not in self._scenes:
            install = self._install(self._lasting, metadata_apart=False, wrong={})
            play(install)
            self._scenes[name] = install
        return self._seen(self._scenes[name])

    def _seen(self, kept: Install) -> Install:
        """Adds the launches that an install made in earlier checks to the record of this one."""
        if not any(install is kept for install, _ in self._recorded_runs):
            self._recorded_runs += [(kept, run) for run in kept.launched]
        return kept

    def _new(self, *, metadata_apart: bool, wrong: Mapping[str, str], own_browser: bool = False) -> Install:
        made = self._install(self._of_check, metadata_apart=metadata_apart, wrong=wrong)
        if own_browser:
            made.browser = self._of_check.enter_context(BrowserCommand(made.folder))
        return made

    def _install(self, stack: ExitStack, *, metadata_apart: bool, wrong: Mapping[str, str]) -> Install:
        self._installs += 1
        folder = self._folder / f"install-{self._installs}"
        (folder / "state").mkdir(mode=0o700, parents=True)
        context = self.context
        world = AgentWorld(
            self._loop,
            context.certificates,
            metadata_apart=metadata_apart,
            wrong=wrong,
            one_origin=context.target.own_parties.one_origin,
            names=context.target.own_parties.names,
            deviations=context.target.own_parties.deviations,
            tracing=self.tracing,
        )
        stack.callback(world.close)
        install = Install(
            world=world,
            spec=context.target.launch,
            browser=self._browser,
            folder=folder,
            callback_url=f"https://127.0.0.1:{kept_port(stack)}{CALLBACK_PATH}",
            ca_file=context.certificates.ca_file,
            certificate=context.agent_certificate,
            ran=self._ran,
            patience=self._patience,
            turn=self._turns.taken,
        )
        install.temporary.mkdir(mode=0o700)
        return install

    def _ran(self, install: Install, run: Run) -> None:
        with self._recording:
            self._record(install, run)

    def _record(self, install: Install, run: Run) -> None:
        self._recorded_runs.append((install, run))
        self._logs.look()
        clients = install.world.gateway_endpoints.clients.values()
        self._turns.look(install.callback_url, [uri for client in clients for uri in client.redirect_uris])
        self._attempts += attempts_of(run, install.folder.name)
        secrets = _with_disclosed_verifiers(run, install.world.secrets())
        for kind, values in secrets.items():
            self._secrets.setdefault(kind, set()).update(values)
        self._survey.answers += 1
        self._unsearched += run.dropped > 0
        texts = {"output": run.output(), PAGES: _pages(run), ADDRESSES: _addresses(run)}
        texts["log"] = b"\n".join(logs_below(install.temporary))
        texts[ENVIRONMENTS] = "\n".join(run.environments).encode(errors="surrogatepass")
        search = Search(secrets)
        for part, text in texts.items():
            self._survey.leaks += [self._leak(part, run.what, each) for each in search.printed(text)]
        self._survey.leaks += _leaks_in_requests(run, search, self._check)

    def _leak(self, part: str, step: str, each: Printed) -> Leak:
        return Leak(
            kind=each.kind, check=self._check, step=step, party="user", part=part, how=each.how, status=None
        )


def _with_disclosed_verifiers(run: Run, secrets: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The secrets, with every code verifier that the launch disclosed outside of token requests."""
    challenges = {challenge for visit in run.visits if (challenge := visit.value("code_challenge"))}
    shown = [text.decode("utf-8", "replace") for text in (run.output(), _pages(run), _addresses(run))]
    shown += [each.call.text() for each in _other_requests(run)]
    unproven = verifiers_in("\n".join(shown), challenges) if challenges else []
    known = secrets.get("code_verifier", [])
    return {**secrets, "code_verifier": sorted({*known, *unproven})}


def _pages(run: Run) -> bytes:
    return b"\n".join(page for visit in run.visits for page in visit.pages)


def _addresses(run: Run) -> bytes:
    return "\n".join((*(visit.url for visit in run.visits), *run.others)).encode(errors="surrogatepass")


def _other_requests(run: Run) -> list[ReceivedRequest]:
    return [each for each in run.calls() if each.call.endpoint is not Endpoint.TOKEN]


def _leaks_in_requests(run: Run, search: Search, check: str) -> list[Leak]:
    """Secrets in requests other than token requests. One search over all of them nearly always finds none."""
    calls = _other_requests(run)
    if not _without_access_tokens(search, "\n".join(each.call.text() for each in calls)):
        return []
    return [
        Leak(
            kind=each.kind,
            check=check,
            step=run.what,
            party=call.party,
            part=REQUESTS,
            how=each.how,
            status=None,
        )
        for call in calls
        for each in _without_access_tokens(search, call.call.text())
    ]


def _without_access_tokens(search: Search, text: str) -> list[Printed]:
    """The secrets in the text, except the access token, which is in nearly every request."""
    return [each for each in search.printed(text.encode()) if each.kind != "access_token"]


def _grouped(runs: list[str]) -> str:
    counted = [(what, len(list(same))) for what, same in groupby(runs)]
    return ", then ".join(what if times == 1 else f"{what} ({times} times)" for what, times in counted)
