"""What is counted in a run: authorizations that one agent asks for in more than one way."""

from __future__ import annotations

import shlex
import socket
import ssl
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from gateproof.conformance.kit.agent import agent, cooldown, launch
from gateproof.conformance.kit.agent.agent import Install, attempts_of, expect_done
from gateproof.conformance.kit.agent.browser import BrowserCommand
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.kit.agent.visits import Visit
from gateproof.conformance.kit.agent.world import (
    BROWSER_MARK,
    CORE,
    GATEWAY,
    GOOD,
    AgentWorld,
    Certificates,
    ReceivedRequest,
)
from gateproof.conformance.kit.authority import Authority
from gateproof.conformance.suite.claims import Unmet, Violated, tallying
from gateproof.conformance.targets.model import Launch
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.running import Loop
from gateproof.fakes.gateway.script import Endpoint

ONE, OTHER = "https://gateway.example/auth?state=one", "https://gateway.example/auth?state=other"
# A signal that comes just before a sleep does not end it, so these programs sleep in short pieces.
LAST_WORDS = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("good-bye"))
print("here", flush=True)
for _ in range(1200):
    time.sleep(0.05)
"""
# A shell dies of the signal at once, and the agent below it still clears up.
BELOW_A_SHELL = """
import signal, sys, time
def clear_up(*_):
    time.sleep(0.3)
    print("cleared up", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, clear_up)
print("here", flush=True)
for _ in range(1200):
    time.sleep(0.05)
"""
# What is left in its group takes no notice of the signal.
WITH_A_HELPER = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("good-bye"))
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("here", flush=True)
for _ in range(1200):
    time.sleep(0.05)
"""
_ORDINALS = count(1)


def asked(endpoint: Endpoint, headers: tuple[tuple[str, str], ...] = (), **form: str) -> ReceivedRequest:
    call = Call(
        ordinal=next(_ORDINALS),
        endpoint=endpoint,
        method="POST" if form else "GET",
        target="/",
        headers=headers,
        body=urlencode(form).encode(),
        at_s=0.0,
    )
    party = CORE if endpoint is Endpoint.TOKEN else GATEWAY
    return ReceivedRequest(party=party, url="https://gateway.example/", call=call)


def exchanged(code: str) -> ReceivedRequest:
    return asked(Endpoint.TOKEN, grant_type="authorization_code", code=code, code_verifier=f"of {code}")


def visit(number: int, url: str, *codes: str) -> Visit:
    brought = [f"https://127.0.0.1:9/callback?code={code}" for code in codes]
    return Visit(number=number, url=url, how="opened", brought=brought)


def run(visits: Sequence[Visit], heard: Sequence[ReceivedRequest]) -> Run:
    return Run(
        what="a run",
        ended=Ended.BY_ITSELF,
        exit_code=0,
        took_s=1.0,
        limit_s=2.0,
        heard=tuple(heard),
        visits=tuple(visits),
        served=True,
        output_file=Path("nowhere"),
        dropped=0,
    )


def test_address_that_is_opened_twice_is_one_attempt() -> None:
    made = attempts_of(run([visit(1, ONE, "a"), visit(2, ONE, "b")], [exchanged("a")]))

    assert [(each.state, each.verifier) for each in made] == [("one", "of a")]


def test_address_whose_codes_are_both_exchanged_is_two_attempts() -> None:
    visits = [visit(1, ONE, "a"), visit(2, OTHER), visit(3, OTHER), visit(4, ONE, "b")]
    made = attempts_of(run(visits, [exchanged("a"), exchanged("b")]))

    assert [(each.state, each.verifier) for each in made] == [
        ("one", "of a"),
        ("other", None),
        ("one", "of b"),
    ]


def test_agent_that_polls_the_page_authorizes_each_time() -> None:
    page = asked(Endpoint.AUTHORIZATION)
    of_the_user = asked(Endpoint.AUTHORIZATION, ((BROWSER_MARK, "1"),))
    refresh = asked(Endpoint.TOKEN, grant_type="refresh_token")

    assert run([visit(1, ONE)], [of_the_user, page]).authorizations() == 1
    assert run([visit(1, ONE)], [of_the_user, page, page, page]).authorizations() == 3
    assert run([visit(1, ONE)], [of_the_user, refresh]).authorizations() == 1


def test_stopped_run_was_cut_off_where_the_signal_was_its_end() -> None:
    ends = {-15: True, 143: True, -9: True, 0: False, 1: False}
    stopped = replace(run([], []), ended=Ended.STOPPED)

    assert {code: replace(stopped, exit_code=code).cut_off for code in ends} == ends
    assert not replace(stopped, ended=Ended.BY_ITSELF, exit_code=143).cut_off


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AgentWorld]:
    authority = Authority(tmp_path)
    issued = {GOOD: authority.issue("world"), "strange": authority.issue_by_unknown_ca("stranger")}
    files = {name: (each.cert_file, each.key_file) for name, each in issued.items()}
    with Loop() as loop:
        made = AgentWorld(loop, Certificates(ca_file=authority.ca_file, files=files))
        yield made
        made.close()


def installed(world: AgentWorld, folder: Path, browser: BrowserCommand, *command: str) -> Install:
    (folder / "state").mkdir()
    nothing = folder / "nothing.pem"
    return Install(
        world=world,
        spec=Launch(command=command, cwd=folder, timeout_s=30),
        browser=browser,
        folder=folder,
        callback_url="https://127.0.0.1:9/callback",
        ca_file=nothing,
        certificate=(nothing, nothing),
        ran=lambda *_: None,
    )


STOOD_BACK, CAME_BACK = replace(run([], []), exit_code=1, served=False), run([], [])
FAILED = replace(run([visit(1, ONE)], []), exit_code=1, served=False)
STOOD_BACK_ASKING = replace(run([], [asked(Endpoint.METADATA)]), exit_code=1, served=False)
BEARER = (("authorization", "Bearer kept"),)


def called(status: int) -> Run:
    """A run that sent its kept token to the service, and ended with an error."""
    asked_with_it = asked(Endpoint.OPERATION, BEARER)
    answered = replace(asked_with_it, call=replace(asked_with_it.call, status=status))
    return replace(run([], [answered]), exit_code=1, served=False)


def test_agent_that_stands_back_may_have_sent_a_token_that_is_refused() -> None:
    assert called(401).in_cooldown
    assert not called(200).in_cooldown


@pytest.mark.parametrize(
    ("ends", "counts", "patient"),
    [
        ([CAME_BACK], 0, True),
        ([FAILED], 0, True),
        ([STOOD_BACK, CAME_BACK], 1, True),
        ([STOOD_BACK, FAILED], 0, True),
        ([STOOD_BACK_ASKING, CAME_BACK], 0, True),
        ([STOOD_BACK, STOOD_BACK, CAME_BACK], 2, True),
        ([STOOD_BACK, STOOD_BACK, FAILED], 2, True),
        ([STOOD_BACK, STOOD_BACK, STOOD_BACK], 2, False),
    ],
)
def test_run_after_trouble_counts_once_the_agent_has_stood_back(
    world: AgentWorld,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: list[Run],
    counts: int,
    patient: bool,
) -> None:
    monkeypatch.setattr(cooldown, "BREAKER_S", 0.0)
    made = iter([CAME_BACK, *ends])
    monkeypatch.setattr(agent, "run_once", lambda *_, **__: next(made))
    with BrowserCommand(tmp_path) as browser:
        install = installed(world, tmp_path, browser)
        install.launch("a run in trouble")
        counted = install.launch_after_trouble("the next run")

    assert counted is ends[counts]
    assert install.runs == [CAME_BACK, ends[counts]]
    assert install.launched == [CAME_BACK, *ends]
    assert install.patience.left is patient


def launched(world: AgentWorld, folder: Path, *command: str) -> Install:
    with BrowserCommand(folder) as browser:
        install = installed(world, folder, browser, *command)
        said = folder / "output-1"
        install.launch("a run", until=lambda: said.is_file() and b"here" in said.read_bytes())
    return install


def test_agent_that_is_asked_to_end_has_a_last_word(world: AgentWorld, tmp_path: Path) -> None:
    began = time.monotonic()
    made = launched(world, tmp_path, sys.executable, "-c", LAST_WORDS).runs[0]

    assert time.monotonic() - began < 15
    assert made.ended is Ended.ASKED_TO
    assert not made.killed
    assert made.said() == "a run that was asked to end"
    assert b"good-bye" in made.output()


def test_agent_below_a_shell_is_waited_for_when_it_is_asked_to_end(world: AgentWorld, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(BELOW_A_SHELL)
    (tmp_path / "run.sh").write_text(f"{shlex.quote(sys.executable)} agent.py\nexit $?\n")
    made = launched(world, tmp_path, "sh", "run.sh").runs[0]

    assert made.ended is Ended.ASKED_TO
    assert not made.killed
    assert b"cleared up" in made.output()


def test_agent_whose_helper_does_not_end_is_killed_in_the_end(
    world: AgentWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_SHUTDOWN_S", 1.0)
    made = launched(world, tmp_path, sys.executable, "-c", WITH_A_HELPER).runs[0]

    assert made.ended is Ended.ASKED_TO
    assert made.killed
    assert b"good-bye" in made.output()


def test_agent_that_is_stopped_may_have_kept_nothing(
    world: AgentWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "MOST_AUTHORIZATIONS", 0)
    made = launched(world, tmp_path, sys.executable, "-c", "import time; time.sleep(60)").runs[0]

    assert made.ended is Ended.STOPPED
    assert made.cut_off


def test_party_shows_another_certificate_where_it_was(world: AgentWorld) -> None:
    where = world.url(GATEWAY)
    trust = ssl.create_default_context(cafile=world.place().ca_file)

    def trusted() -> bool:
        with socket.create_connection(("127.0.0.1", urlsplit(where).port or 0), 5.0) as line:
            try:
                trust.wrap_socket(line, server_hostname="127.0.0.1").close()
            except ssl.SSLCertVerificationError:
                return False
        return True

    assert trusted()
    world.set_certificate(GATEWAY, "strange")
    assert world.url(GATEWAY) == where
    assert not trusted()
    world.set_certificate(GATEWAY, GOOD)
    assert trusted()


def test_operation_that_no_browser_here_could_bring_to_its_end_is_not_judged() -> None:
    failed = replace(run([visit(1, ONE, "a")], []), exit_code=1, served=False)
    with tallying(), pytest.raises(Violated):
        expect_done(failed)

    abroad = Visit(number=1, url=ONE, how="opened", brought=["https://relay.example/callback?code=a"])
    with tallying(), pytest.raises(Unmet):
        expect_done(replace(failed, visits=(abroad,)))
