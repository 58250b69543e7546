"""A run forks its processes from one that has loaded their modules, and says so if that one ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from waiting import alive, eventually

from gateproof.conformance.cli import main as gateproof
from gateproof.reports.variables import SIGN_KEY

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found in /proc")
MANY = ("--only", "DISC-*", "--only", "CODE-*")


@contextmanager
def run(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """`gateproof run` with the embedded gateway, which is ended with the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "gateproof", "run", "--no-color", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def children(pid: int) -> dict[int, str]:
    """The names of the processes with this parent."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found[int(folder.name)] = (folder / "comm").read_text().strip()
        except (OSError, IndexError):
            continue
    return found


def forks_of(process: subprocess.Popen[str]) -> dict[int, dict[int, str]]:
    """By the ID of the process that forks, the names of its forks."""
    parties = {"gateway", "merchant", "worker"}
    each = {pid: children(pid) for pid in children(process.pid)}
    return {pid: forks for pid, forks in each.items() if parties & set(forks.values())}


def has_started(process: subprocess.Popen[str], *names: str) -> bool:
    """Waits for all of these forks."""
    return eventually(
        lambda: any(sorted(forks.values()) == sorted(names) for forks in forks_of(process).values()),
        within_s=60,
    )


def record(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "gateproof-report" / "report.json").read_text()))


def test_workers_merchants_and_gateways_are_forks_of_one_process(tmp_path: Path) -> None:
    with run(tmp_path, "--workers", "2", *MANY) as process:
        assert has_started(process, *("gateway", "merchant", "worker") * 2)
        ((server, forks),) = forks_of(process).items()
        process.terminate()
        process.communicate(timeout=60)
    assert not any(alive(pid) for pid in (server, *forks))


def test_nothing_is_forked_from_a_process_that_got_the_signing_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork has its parent's memory, and so the variable that was removed."""
    started: list[str] = []

    @contextmanager
    def forks(*_: object, **__: object) -> Iterator[None]:
        started.append("forks")
        yield

    monkeypatch.setattr("gateproof.conformance.run.drive.run_forks.run_forks", forks)
    key = ed25519.Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    command = ["gateproof", "run", "--workers", "1", "--only", "DISC-01", "--quiet"]
    for number, value in enumerate(("", key.decode())):
        monkeypatch.setenv(SIGN_KEY, value)
        monkeypatch.setattr("sys.argv", [*command, "--out", str(tmp_path / str(number))])
        assert gateproof() == 0
        assert started == ["forks"]


@pytest.mark.parametrize("workers", [1, 2])
def test_run_whose_fork_server_was_killed_says_so(workers: int, tmp_path: Path) -> None:
    with run(tmp_path, "--workers", str(workers), *MANY) as process:
        names = ("gateway", "merchant", "worker")[: 2 if workers == 1 else 3] * workers
        assert has_started(process, *names)
        ((server, forks),) = forks_of(process).items()
        os.kill(server, signal.SIGKILL)
        said, _ = process.communicate(timeout=60)

    found = record(tmp_path)
    assert process.returncode == 3, said
    assert found["run"]["cut_short"] == "the process from which all others are forked has ended"
    assert not [rule["id"] for rule in found["rules"] if rule["verdict"] == "failed"], said
    assert eventually(lambda: not any(map(alive, forks)))


def test_worker_that_was_killed_is_replaced(tmp_path: Path) -> None:
    with run(tmp_path, "--workers", "2", *MANY) as process:
        assert has_started(process, *("gateway", "merchant", "worker") * 2)
        (forks,) = forks_of(process).values()
        os.kill(next(pid for pid, name in forks.items() if name == "worker"), signal.SIGKILL)
        said, _ = process.communicate(timeout=120)

    found = record(tmp_path)
    checks = [check for rule in found["rules"] for check in rule["checks"]]
    assert found["run"]["complete"], said
    assert not any(check["verdict"] == "failed" for check in checks), said
    assert sum(check["verdict"] == "passed" for check in checks) > 200, said
