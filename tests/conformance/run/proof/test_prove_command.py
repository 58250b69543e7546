"""`gateproof prove` as it is typed: what it says, what it leaves, and that it leaves no process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import eventually
from warm import WARM

ARGUMENTS = ["prove", "--workers", "2", "--no-color"]
COMMAND = [*WARM, "gateproof", *ARGUMENTS]
# Of its own, where it is stopped and looked at.
ALONE = [sys.executable, "-m", "gateproof", *ARGUMENTS]
# Each is caught by its own rule within a second or two.
DEFECTS = ["--only", "exp-as-a-string", "--only", "keys-share-a-kid"]


def processes(folder: Path) -> list[int]:
    """Every process that was started with this folder for temporary files."""
    wanted = f"TMPDIR={folder}".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def test_defects_are_caught_and_the_proof_is_kept(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--quick", *DEFECTS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 defects caught by their right rule" in done.stdout
    kept = json.loads((tmp_path / "gateproof-proof" / "prove.json").read_text())
    failed = {each["name"]: each["failed"] for each in kept["trials"]}
    assert failed.keys() == {"exp-as-a-string", "keys-share-a-kid"}
    assert "CLAIM-04" in failed["exp-as-a-string"]
    assert "KEYS-05" in failed["keys-share-a-kid"]
    assert kept["complete"]
    assert kept["effort"] == "quick"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "no-such-*"], "no defect or variant matches no-such-*"),
        (["--quick", "--ship"], "--ship needs a full proof"),
        (["--quick", "--every-case"], "not allowed with"),
    ],
)
def test_wrong_usage_is_said(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "gateproof-proof").exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes cannot be listed here")
@pytest.mark.parametrize(
    ("number", "to_group"),
    [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGKILL, False)],
)
def test_stopped_proof_leaves_no_process(number: signal.Signals, to_group: bool, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with (tmp_path / "output").open("w") as output:
        process = subprocess.Popen(
            [*ALONE, "--only", "redirect-*"],
            cwd=tmp_path,
            stdout=output,
            stderr=output,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(scratch)},
        )
        try:
            # Two workers, each with a merchant, a process that stands by, and a gateway.
            assert eventually(
                lambda: len(processes(scratch)) >= 7 or process.poll() is not None, within_s=120
            )
            (os.killpg if to_group else os.kill)(process.pid, number)
            code = process.wait(60)
        finally:
            process.kill()
    said = (tmp_path / "output").read_text()
    assert eventually(lambda: not processes(scratch), within_s=120), said
    if number == signal.SIGKILL:
        return
    assert "Traceback" not in said
    assert code == 3, said
    kept = json.loads((tmp_path / "gateproof-proof" / "prove.json").read_text())
    assert not kept["complete"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes cannot be listed here")
def test_proof_whose_fork_server_was_killed_says_so(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*ALONE, "--only", "redirect-*"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        # The server has a child once it has forked the first party.
        assert eventually(lambda: any(map(fork_servers_of, fork_servers_of(process.pid))), within_s=120)
        (server,) = fork_servers_of(process.pid)
        os.kill(server, signal.SIGKILL)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 3, said
    assert "the process that starts the reference ended (exit code -9)" in said
    assert "Traceback" not in said


def fork_servers_of(parent: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            its_parent = int(place.read_text().rpartition(")")[2].split()[1])
            if its_parent == parent and b"gateproof.forks.server" in place.with_name("cmdline").read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found
