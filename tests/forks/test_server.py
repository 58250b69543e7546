"""The fork server starts the reference like a fresh interpreter would, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import eventually

from gateproof.forks.server import runner_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")


MODULES = [f"gateproof.reference.{name}" for name in ("gateway", "defects", "variants")]
WARM_UP = "gateproof.reference.warm_up"


@contextmanager
def fork_server(
    *modules: str,
    ends_with: int = 0,
    program: Sequence[str] = ("-m", "gateproof.forks.server"),
) -> Iterator[tuple[list[str], subprocess.Popen[bytes]]]:
    process = subprocess.Popen(
        [sys.executable, *program, "--warm-up", WARM_UP, *(modules or MODULES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline()), process
    finally:
        process.stdin.close()
        process.stdout.close()
        assert process.wait(10) == ends_with


@pytest.fixture(scope="module")
def runner() -> Iterator[list[str]]:
    with fork_server() as (command, _):
        yield command


def test_client_loads_nothing_that_takes_longer_than_an_interpreter(runner: list[str]) -> None:
    python, *others, client, folder = runner
    done = subprocess.run(
        [python, "-X", "importtime", *others, client, f"{folder}-elsewhere", "module"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 127
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "_socket" in loaded
    assert not loaded & {"collections", "enum", "re", "socket"}


def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        found: int = free.getsockname()[1]
        return found


def addresses() -> tuple[list[str], int]:
    base, core = port(), port()
    urls = [f"http://127.0.0.1:{number}" for number in (base, core)]
    return ["--base-url", urls[0], "--core-url", urls[1]], base


def answers(number: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", number)) == 0


def test_it_runs_only_the_modules_that_it_was_given() -> None:
    elsewhere = ["--base-url", "http://elsewhere.example:1", "--core-url", "http://elsewhere.example:2"]
    with fork_server("gateproof.reference.gateway") as (command, _):
        given, other = (
            subprocess.run([*command, *called], capture_output=True, timeout=30, check=False)
            for called in (
                ["gateproof.reference.gateway", *elsewhere],
                ["gateproof.reference.defects", "gateway", "--list"],
            )
        )
    assert (given.returncode, b"stays on loopback" in given.stderr) == (2, True)
    assert (other.returncode, other.stdout) == (127, b"")


def test_a_module_runs_with_the_callers_arguments_streams_and_exit_code(runner: list[str]) -> None:
    done = subprocess.run(
        [*runner, "gateproof.reference.defects", "gateway", "--list"],
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0
    assert len(json.loads(done.stdout)) > 100
    wrong = subprocess.run(
        [*runner, "gateproof.reference.variants", "gateway", "nothing"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert wrong.returncode == 2
    assert "there is no variant nothing" in wrong.stderr


def test_a_module_runs_in_the_callers_folder_with_its_variables(runner: list[str], tmp_path: Path) -> None:
    given, _ = addresses()
    missing = [*given, "--tls-cert", "no.pem", "--tls-key", "no.key"]
    done = subprocess.run(
        [*runner, "gateproof.reference.gateway", *missing],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert "no.pem" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_gateway_ends_with_its_caller(runner: list[str], number: signal.Signals) -> None:
    given, base = addresses()
    with subprocess.Popen([*runner, "gateproof.reference.gateway", *given], stdin=subprocess.PIPE) as caller:
        assert eventually(lambda: answers(base))
        caller.send_signal(number)
        assert caller.wait(20) == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    assert eventually(lambda: not answers(base))


def test_each_gateway_has_keys_of_its_own(runner: list[str]) -> None:
    found = []
    for _ in range(2):
        base, core = port(), port()
        urls = [f"http://127.0.0.1:{number}" for number in (base, core)]
        given = ["--exit-with-stdin", "--base-url", urls[0], "--core-url", urls[1]]
        command = [*runner, "gateproof.reference.gateway", *given]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as caller:
            assert eventually(lambda number=core: answers(number))
            with urllib.request.urlopen(f"{urls[1]}/jwks", timeout=10) as answer:  # noqa: S310 - http, on loopback
                found.append(answer.read())
            assert caller.stdin is not None
            caller.stdin.close()
            caller.wait(20)
    assert found[0] != found[1]


def test_a_gateway_ends_with_its_stdin(runner: list[str]) -> None:
    given, base = addresses()
    command = [*runner, "gateproof.reference.gateway", "--exit-with-stdin", *given]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as caller:
        assert eventually(lambda: answers(base))
        assert caller.stdin is not None
        caller.stdin.close()
        assert caller.wait(20) == 0
    assert not answers(base)


def test_everything_ends_with_what_stood_by() -> None:
    given, base = addresses()
    with fork_server() as (command, _):
        caller = subprocess.Popen([*command, "gateproof.reference.gateway", *given], stdin=subprocess.PIPE)
        assert eventually(lambda: answers(base))
    with caller:
        assert caller.wait(20) != 0
    assert eventually(lambda: not answers(base))
    late = subprocess.run(
        [*command, "gateproof.reference.gateway", *given],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert late.returncode == 127
    assert "has ended" in late.stderr


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux ends children with their parent")
def test_everything_ends_with_a_server_that_is_killed() -> None:
    given, base = addresses()
    with fork_server(ends_with=-signal.SIGKILL) as (command, server):
        with subprocess.Popen([*command, "gateproof.reference.gateway", *given]) as caller:
            assert eventually(lambda: answers(base))
            server.kill()
            assert caller.wait(20) == 127
        assert eventually(lambda: not answers(base))


@pytest.mark.parametrize("said", [b"", b"no call\n", b"[1]\n", b"(" * 2000 + b"\n"])
def test_caller_that_says_nothing_useful_ends_no_other(said: bytes, runner: list[str]) -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(f"{runner[-1]}/calls")
        caller.sendall(said)
        done = subprocess.run(
            [*runner, "gateproof.reference.defects", "agent", "--list"],
            capture_output=True,
            timeout=30,
            check=False,
        )
    assert (done.returncode, done.stdout[:1]) == (0, b"[")


def test_large_environment_arrives(runner: list[str]) -> None:
    done = subprocess.run(
        [*runner, "gateproof.reference.defects", "agent", "--list"],
        # Each becomes six characters of the call; one variable has at most 128 KiB.
        env={**os.environ, **{f"LARGE_{number}": "\u20ac" * 40_000 for number in range(8)}},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_command_has_no_two_slashes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "//usr//bin/python3")
    assert not [word for word in runner_in("//tmp//folder") if "//" in word]


def test_nothing_else_is_run(runner: list[str]) -> None:
    done = subprocess.run([*runner, "http.server"], capture_output=True, timeout=30, check=False)
    assert done.returncode == 127


# Its first fork is one too many.
FORKS_LATER = """
import os, sys
from gateproof.forks import server
fork, codes = os.fork, [11]
def fork_later():
    if codes:
        raise BlockingIOError(codes.pop(), "no further process")
    return fork()
os.fork = fork_later
sys.exit(server.main())
"""


def test_server_that_cannot_fork_now_takes_the_next_call() -> None:
    with fork_server(program=("-c", FORKS_LATER)) as (command, _):
        codes = [
            subprocess.run(
                [*command, "gateproof.reference.variants", "gateway", "--list"],
                stdout=subprocess.DEVNULL,
                timeout=30,
                check=False,
            ).returncode
            for _ in range(2)
        ]
    assert codes == [127, 0]


# What a client of the server is about to do when it gets a signal.
MOMENTS = (
    "os.getcwd()",
    "server.connect",
    "signal(number, lambda",
    "while sent <",
    "os.open(",
    "server.recv(",
)


def client_that_does(what: str, moment: str, runner: Sequence[str], folder: Path) -> list[str]:
    """The command of a client that does something else first at this moment."""
    python, *options, client, server = runner
    source = Path(client).read_text()
    (line,) = [line for line in source.splitlines() if moment in line]
    before = line[: len(line) - len(line.lstrip())] + what
    (folder / "client.py").write_text(source.replace(line, f"{before}\n{line}"))
    return [python, *options, str(folder / "client.py"), server]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_at_any_moment_ends_no_other_call(
    runner: list[str], number: signal.Signals, moment: str, tmp_path: Path
) -> None:
    command = client_that_does(f"os.kill(os.getpid(), {int(number)})", moment, runner, tmp_path)
    given, base = addresses()
    with subprocess.Popen([*runner, "gateproof.reference.gateway", *given], stdin=subprocess.PIPE) as other:
        assert eventually(lambda: answers(base))
        stopped = subprocess.run(
            [*command, "gateproof.reference.gateway", "--help"], capture_output=True, timeout=30, check=False
        )
        other.terminate()
        assert other.wait(20) == 0
    assert stopped.returncode in {0, 128 + number, -number}, stopped.stderr


@pytest.mark.parametrize("late", ["time.sleep(1)", "time.sleep(1); os.kill(os.getpid(), SIGTERM)"])
@pytest.mark.parametrize("moment", MOMENTS[-3:])
def test_a_module_that_ends_before_its_client_goes_on_has_its_exit_code(
    runner: list[str], moment: str, late: str, tmp_path: Path
) -> None:
    command = client_that_does(f"import time; {late}", moment, runner, tmp_path)
    done = subprocess.run(
        [*command, "gateproof.reference.variants", "gateway", "nothing"],
        stderr=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2


def test_exit_code_comes_before_a_connection_that_is_reset(runner: list[str], tmp_path: Path) -> None:
    """The server has closed it with a signal unread, which came too late."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "calls"))
        server.listen()
        with subprocess.Popen([*runner[:-1], str(tmp_path), "module"]) as caller:
            connection, _ = server.accept()
            while b"\n" not in connection.recv(1024 * 1024):
                pass
            caller.send_signal(signal.SIGTERM)
            # The signal is there, as one octet.
            assert connection.recv(1, socket.MSG_PEEK) == bytes([signal.SIGTERM])
            connection.sendall(b"1\n7")
            connection.close()
            assert caller.wait(20) == 7


def test_many_come_and_go_at_once(runner: list[str]) -> None:
    command = [*runner, "gateproof.reference.variants", "gateway", "nothing"]
    for _ in range(3):
        callers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(12)]
        for place, caller in enumerate(callers):
            if place % 2:
                caller.send_signal(signal.SIGKILL if place % 4 == 1 else signal.SIGTERM)
        codes = [caller.wait(30) for caller in callers]
        assert codes[::2] == [2] * 6
    assert subprocess.run(command, stderr=subprocess.DEVNULL, timeout=30, check=False).returncode == 2
