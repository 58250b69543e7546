"""Targets that are forks: nothing else is started for them, and they end like any other target."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from waiting import alive, eventually

from gateproof.conformance.run.prepare.fork_server import ForkServer
from gateproof.conformance.targets import forks
from gateproof.conformance.targets.launch import LaunchFailed, Running, launch
from gateproof.conformance.targets.model import Launch
from gateproof.conformance.targets.processes import group_lives

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")

MODULE = "gateproof.reference.gateway"


@pytest.fixture(scope="module")
def own_server() -> Iterator[ForkServer]:
    with ExitStack() as stack:
        yield ForkServer(stack, MODULE)


def launched(runner: tuple[str, ...], folder: Path, *arguments: str, **env: str) -> Running:
    spec = Launch(command=(*runner, MODULE, *arguments), cwd=folder, env=env)
    return launch(spec, output_file=folder / "output.log")


def gateway(runner: tuple[str, ...], folder: Path) -> tuple[Running, int]:
    """A running gateway, and its port."""
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as free:
            ports.append(free.getsockname()[1])
    base, core = (f"http://127.0.0.1:{port}" for port in ports)
    running = launched(runner, folder, "--exit-with-stdin", "--base-url", base, "--core-url", core)
    assert eventually(lambda: answers(ports[0]))
    return running, ports[0]


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_the_launched_process_is_the_fork_itself(own_server: ForkServer, tmp_path: Path) -> None:
    running, _ = gateway(own_server.runner, tmp_path)
    with running:
        assert os.getpgid(running.pid) == running.pid
        assert running.exit_code() is None
        assert running.wait(0.0) is None
        if Path("/proc").is_dir():
            assert Path(f"/proc/{running.pid}/comm").read_text() == "gateway\n"


def test_it_gets_folder_and_arguments_and_its_output_and_exit_code_come_back(
    own_server: ForkServer, tmp_path: Path
) -> None:
    here = ("--base-url", "http://127.0.0.1:1", "--core-url", "http://127.0.0.1:2")
    with launched(
        own_server.runner, tmp_path, *here, "--tls-cert", "no.pem", "--tls-key", "no.key"
    ) as running:
        assert running.wait(20) == 2
        assert "no.pem" in running.output()


def test_the_server_gets_the_call_and_may_answer_in_parts(tmp_path: Path) -> None:
    said: list[bytes] = []

    def serve() -> None:
        caller, _ = listening.accept()
        with caller:
            call, streams, _, _ = socket.recv_fds(caller, 1 << 20, 3)
            said.append(call)
            for part in (b"4", b"2\n-1", b"5"):
                caller.sendall(part)
            for stream in streams:
                os.close(stream)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "calls"))
        listening.listen()
        server = threading.Thread(target=serve)
        server.start()
        fork = forks.Fork(
            (sys.executable, str(tmp_path)), ["module", "\xe9"], cwd=tmp_path, env={"X": "\udcff"}, output=1
        )
        server.join()
    assert said == [ascii(["module", ["\xe9"], str(tmp_path), {"X": "\udcff"}]).encode() + b"\n"]
    assert (fork.pid, fork.wait(5), fork.poll()) == (42, -15, -15)
    fork.stdin.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_fork_is_asked_to_end(own_server: ForkServer, tmp_path: Path, number: signal.Signals) -> None:
    running, port = gateway(own_server.runner, tmp_path)
    with running:
        assert running.ask_to_end(10, number)
        assert running.wait(5) is not None
        assert not group_lives(running.pid)
    assert not answers(port)


def test_a_fork_ends_with_its_input(own_server: ForkServer, tmp_path: Path) -> None:
    running, _ = gateway(own_server.runner, tmp_path)
    with running:
        running.end_input()
        assert running.wait(20) == 0


def test_the_end_of_the_server_is_the_end_of_its_forks(tmp_path: Path) -> None:
    with ExitStack() as stack:
        runner = ForkServer(stack, MODULE).runner
        running, _ = gateway(runner, tmp_path)
    with running:
        assert running.wait(10) == -signal.SIGKILL
        assert eventually(lambda: not alive(running.pid))
        assert running.how_it_ended() == "killed by SIGKILL"
    with pytest.raises(LaunchFailed, match="cannot launch the target"):
        launched(runner, tmp_path)


def test_only_known_servers_are_asked_directly() -> None:
    runner = (sys.executable, "client.py", "/somewhere")
    assert forks.runner_of((*runner, MODULE)) is None
    forks.know((sys.executable, "client.py", "/" + "x" * 100))
    assert forks.runner_of((sys.executable, "client.py", "/" + "x" * 100, MODULE)) is None
    forks.know(runner)
    try:
        assert forks.runner_of((*runner, MODULE)) == runner
        assert forks.runner_of((sys.executable, "client.py", "/elsewhere", MODULE)) is None
    finally:
        forks._runners.discard(runner)
