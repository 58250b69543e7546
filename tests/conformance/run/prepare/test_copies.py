"""Further instances of a gateway: they start side by side, and none is left when the start is given up."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.signals import terminated_as_interrupted
from gateproof.conformance.run.prepare import copies
from gateproof.conformance.run.prepare.copies import prepare_copies
from gateproof.conformance.run.prepare.gateway import CannotRun
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import GatewayTarget

# Gateways that never answer, and one that ends at once.
SILENT, ENDING = "import time; time.sleep(60)", "raise SystemExit(3)"


def gateway(folder: Path, program: str) -> GatewayTarget:
    (folder / "program.py").write_text(
        f"open({str(folder)!r} + f'/{{__import__(\"os\").getpid()}}', 'w')\n{program}"
    )
    file = folder / "target.toml"
    file.write_text(f"""
[target]
name = "slow"
role = "gateway"
base_url = "http://127.0.0.1:{{port}}"
core_url = "http://127.0.0.1:{{port}}"
[launch]
command = ["{sys.executable}", "{folder}/program.py"]
timeout_s = 90
""")
    target = load(file)
    assert isinstance(target, GatewayTarget)
    return target


def started(folder: Path) -> list[int]:
    return [int(each.name) for each in folder.iterdir() if each.name.isdigit()]


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def until(held: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not held() and time.monotonic() < deadline:
        time.sleep(0.02)
    return held()


def test_instances_start_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=30)
    real = copies.prepare

    def prepare(*given: object) -> object:
        both.wait()
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("gateproof.conformance.run.prepare.copies.prepare", prepare)
    with ExitStack() as stack:
        found = prepare_copies(Embedded(), 2, tmp_path, 7, stack)
        assert len({each.context.target.base_url for each in found}) == 2
        assert [each.context.ca_file.split("/")[-2] for each in found] == ["instance-2", "instance-3"]


def test_starters_live_as_long_as_what_they_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux kills what asked to end with its parent when the thread ends that started it."""
    starters: list[threading.Thread] = []
    monkeypatch.setattr(
        "gateproof.conformance.run.prepare.copies.prepare",
        lambda *_: starters.append(threading.current_thread()),
    )
    with ExitStack() as stack:
        prepare_copies(Embedded(), 2, tmp_path, 7, stack)
        assert starters
        assert all(each.is_alive() for each in starters)
    assert not any(each.is_alive() for each in starters)


def test_instance_that_does_not_start_beside_others_is_started_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, other_has_tried = threading.Lock(), threading.Event()

    def prepare(_target: object, folder: Path, *_: object) -> str:
        if not starting.acquire(blocking=False):
            other_has_tried.set()
            raise CannotRun("another one is starting")
        try:
            assert other_has_tried.wait(30)
        finally:
            starting.release()
        return folder.name

    monkeypatch.setattr("gateproof.conformance.run.prepare.copies.prepare", prepare)
    with ExitStack() as stack:
        found = prepare_copies(Embedded(), 2, tmp_path, 7, stack)
    assert sorted(map(str, found)) in (
        ["instance-2", "instance-3-again"],
        ["instance-2-again", "instance-3"],
    )


def test_instance_that_ends_is_an_error(tmp_path: Path) -> None:
    with ExitStack() as stack, pytest.raises(CannotRun, match="ended before it was ready: exit code 3"):
        prepare_copies(gateway(tmp_path, ENDING), 2, tmp_path, 7, stack)


def test_interruption_stops_instances_that_do_not_get_ready(tmp_path: Path) -> None:
    ended: list[bool] = []

    def interrupt() -> None:
        assert until(lambda: len(started(tmp_path)) == 2)
        os.kill(os.getpid(), signal.SIGTERM)
        # Long before their time to get ready is over.
        ended.append(until(lambda: not any(map(alive, started(tmp_path)))))

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with ExitStack() as stack, pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        prepare_copies(gateway(tmp_path, SILENT), 2, tmp_path, 7, stack)
    interrupting.join()
    assert ended == [True]
