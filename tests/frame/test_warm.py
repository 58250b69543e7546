"""A program that is forked of a process with everything loaded runs as one with an interpreter of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from waiting import alive, eventually
from warm import WARM

from gateproof.package import PYTHON_MODULE

# What a program is told by whoever starts it.
TELLS = """
import os, sys
print(os.getcwd(), os.environ.get("TOLD"), sys.argv[1:], sys.stdin.read(), __name__)
print("an error", file=sys.stderr)
"""


def ran(
    *arguments: str | Path, folder: Path, told: Mapping[str, str] | None = None
) -> tuple[int, Sequence[str], str]:
    """The exit code, and what it printed."""
    done = subprocess.run(
        arguments,
        cwd=folder,
        env={**os.environ, **(told or {})},
        input="input",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_program_has_what_its_caller_gives_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(TELLS)
    for program in (("-c", TELLS), (str(tmp_path / "script.py"),)):
        code, said, errors = ran(*WARM, *program, "a b", "c", folder=tmp_path, told={"TOLD": "this"})

        assert (code, errors) == (0, "an error\n")
        assert said == [f"{tmp_path} this ['a b', 'c'] input __main__"]


@pytest.mark.parametrize("end", ["sys.exit(7)", "sys.exit('text')", "raise ValueError('text')", "pass"])
def test_program_ends_as_with_an_interpreter_of_its_own(end: str, tmp_path: Path) -> None:
    program = f"import atexit, sys; atexit.register(print, 'at the end'); print('said')\n{end}"
    forked = ran(*WARM, "-c", program, folder=tmp_path)
    alone = ran(sys.executable, "-c", program, folder=tmp_path)

    assert forked[:2] == alone[:2]
    assert forked[1] == ["said", "at the end"]
    assert forked[2].splitlines()[-1:] == alone[2].splitlines()[-1:]


def test_command_is_the_one_of_the_module(tmp_path: Path) -> None:
    forked = ran(*WARM, "gateproof", "--version", folder=tmp_path)

    assert forked == ran(sys.executable, "-m", "gateproof", "--version", folder=tmp_path)
    assert ran(*WARM, "gateproof", "no-such-command", folder=tmp_path)[0] == 2


def test_module_of_the_reference_is_one_too(tmp_path: Path) -> None:
    assert PYTHON_MODULE == WARM
    assert ran(*PYTHON_MODULE, "gateproof.reference.gateway", "--help", folder=tmp_path)[0] == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 3), (signal.SIGKILL, -signal.SIGKILL)])
def test_signal_ends_the_fork(number: signal.Signals, code: int, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(3));"
        "print(os.getpid(), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([*WARM, "-c", program], stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout is not None
        forked = int(caller.stdout.readline())
        caller.send_signal(number)
        assert caller.wait(30) == code

    assert eventually(lambda: not alive(forked))
