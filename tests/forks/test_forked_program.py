"""A forked program runs as with an interpreter of its own: with what its caller gives it, and to its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
# Has state of its own when it is loaded, and runs the program that is its first argument.
PROGRAM = """
import gc, signal, sys, tempfile
tempfile.gettempdir()
gc.set_threshold(50_000, 20, 50)
signal.signal(signal.SIGTERM, lambda *_: None)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
sys.stdout.write("of the server")
def main(arguments):
    exec(arguments[0], {})
    return 5
"""


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sequence[str]]:
    """The command that runs a program as a fork."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "program.py").write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, "-m", "gateproof.forks.server", "program"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        line = server.stdout.readline()
        yield [*json.loads(line.removeprefix(b"of the server")), "program"]
        server.stdin.close()
        assert server.wait(10) == 0


def ran(
    command: Sequence[str], program: str, *arguments: str, folder: Path, **variables: str
) -> tuple[int, str, str]:
    """The exit code, and what was printed."""
    done = subprocess.run(
        [*command, program, *arguments],
        cwd=folder,
        env={**os.environ, **variables},
        input="input",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_program_has_what_its_caller_gives_it(forked: Sequence[str], tmp_path: Path) -> None:
    program = (
        "import os, sys, tempfile, time; print('an error', file=sys.stderr)\n"
        "print(os.getcwd(), os.environ['TOLD'], sys.argv[2:], sys.stdin.read())\n"
        "print(tempfile.gettempdir(), *time.tzname)"
    )
    code, said, errors = ran(
        forked, program, "a b", "c", folder=tmp_path, TOLD="this", TMPDIR=str(tmp_path.resolve()), TZ="XYZ-3"
    )

    assert (code, errors) == (5, "an error\n")
    assert said == f"{tmp_path} this ['a b', 'c'] input\n{tmp_path.resolve()} XYZ XYZ\n"


def test_nothing_is_left_of_what_the_server_set(forked: Sequence[str], tmp_path: Path) -> None:
    program = (
        "import gc, signal; numbers = signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT\n"
        "print(gc.get_threshold()[0] == 50_000, *(signal.getsignal(number) for number in numbers))"
    )
    usual = (signal.SIG_DFL, signal.SIG_DFL, signal.SIG_IGN, signal.default_int_handler)

    assert ran(forked, program, folder=tmp_path)[1] == f"{' '.join(map(str, (False, *usual)))}\n"


@pytest.mark.parametrize(("unbuffered", "seen"), [("1", ("said", "told")), ("", ("", "told\n"))])
def test_output_is_kept_back_as_the_environment_says(
    unbuffered: str, seen: tuple[str, str], forked: Sequence[str], tmp_path: Path
) -> None:
    end = "" if unbuffered else "print(file=sys.stderr);"
    program = (
        f"import os, sys; print('said', end=''); print('told', end='', file=sys.stderr); {end} os._exit(5)"
    )
    found = ran(forked, program, folder=tmp_path, PYTHONUNBUFFERED=unbuffered)
    assert (
        found
        == (5, *seen)
        == ran([sys.executable, "-c"], program, folder=tmp_path, PYTHONUNBUFFERED=unbuffered)
    )


@pytest.mark.parametrize("end", ["sys.exit(7)", "sys.exit('text')", "raise ValueError('text')", "sys.exit()"])
def test_program_ends_as_with_an_interpreter_of_its_own(
    end: str, forked: Sequence[str], tmp_path: Path
) -> None:
    program = f"import atexit, sys; atexit.register(print, 'at the end'); print('said')\n{end}"
    code, said, errors = ran(forked, program, folder=tmp_path)
    alone = ran([sys.executable, "-c"], program, folder=tmp_path)

    assert (code, said) == alone[:2] == (alone[0], "said\nat the end\n")
    assert errors.splitlines()[-1:] == alone[2].splitlines()[-1:]


def test_program_ends_after_its_threads(forked: Sequence[str], tmp_path: Path) -> None:
    program = (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('of the thread'))).start()"
    )
    assert ran(forked, program, folder=tmp_path)[:2] == (5, "of the thread\n")


def test_each_has_random_numbers_of_its_own(forked: Sequence[str], tmp_path: Path) -> None:
    program = "import random, ssl, uuid; print(random.random(), ssl.RAND_bytes(8), uuid.uuid4())"
    found = [ran(forked, program, folder=tmp_path)[1].split() for _ in range(2)]

    assert all(one != other for one, other in zip(*found, strict=True))


def test_no_file_of_the_server_is_open_in_it(forked: Sequence[str], tmp_path: Path) -> None:
    program = (
        "import os; kept = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]; print(max(kept), min(kept))"
    )
    done = ran(forked, program, folder=tmp_path)

    assert done[1] == ran([sys.executable, "-c"], program, folder=tmp_path)[1]


@pytest.mark.parametrize(
    "late",
    ["threading.Thread(target=interrupt).start()", "atexit.register(interrupt)"],
    ids=["thread", "exit"],
)
def test_interrupt_after_the_end_changes_no_exit_code(
    late: str, forked: Sequence[str], tmp_path: Path
) -> None:
    program = (
        "import atexit, os, signal, threading, time\n"
        "def interrupt(): time.sleep(0.1); os.kill(os.getpid(), signal.SIGINT)\n"
        f"print('said'); {late}"
    )
    assert ran(forked, program, folder=tmp_path) == (5, "said\n", "")
