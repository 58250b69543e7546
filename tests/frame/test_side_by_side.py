"""Commands run at the same time, none is forgotten, and their outputs do not mix."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import alive, eventually

PROGRAM = Path(__file__).resolve().parents[2] / "requirements" / "side_by_side.py"
# Each waits until the other has begun, and gives up after a minute.
MEETS = (
    "echo {own} begins; touch {own}; n=0; until [ -e {other} ]; do n=$((n + 1)); "
    "[ $n -lt 600 ] || exit 9; sleep 0.1; done; echo {own} ends"
)


def side_by_side(folder: Path, *commands: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(PROGRAM), *commands],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_commands_meet_and_their_outputs_do_not_mix(tmp_path: Path) -> None:
    done = side_by_side(tmp_path, MEETS.format(own="one", other="two"), MEETS.format(own="two", other="one"))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["one begins", "one ends", "two begins", "two ends"]


@pytest.mark.parametrize(
    ("codes", "expected"), [((0, 0, 0), 0), ((3, 0, 4), 3), ((0, 5, 0), 5), ((0, 0, 6), 6)]
)
def test_failure_of_any_command_is_the_failure_of_all(
    codes: tuple[int, ...], expected: int, tmp_path: Path
) -> None:
    done = side_by_side(tmp_path, *(f"echo {code} >&2; exit {code}" for code in codes))

    assert done.returncode == expected
    assert sorted(f"{done.stdout}{done.stderr}".split()) == sorted(map(str, codes))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_command_is_left_after_an_interruption(number: int, tmp_path: Path) -> None:
    waits = 'echo $$ > {name}.new; mv {name}.new {name}; exec "$PYTHON" -c "import time; time.sleep(600)"'
    commands = [f"PYTHON={shlex.quote(sys.executable)}; {waits.format(name=name)}" for name in ("one", "two")]
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), *commands], cwd=tmp_path, stderr=subprocess.PIPE
    ) as process:
        files = [tmp_path / "one", tmp_path / "two"]
        assert eventually(lambda: all(file.exists() for file in files))
        started = [int(file.read_text()) for file in files]
        process.send_signal(number)
        assert process.wait(60) == 128 + number

    assert eventually(lambda: not any(map(alive, started)))
