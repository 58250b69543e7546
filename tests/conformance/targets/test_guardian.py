"""What was launched ends, and temporary folders go, however the harness itself ends."""

import itertools
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from waiting import alive, eventually

from gateproof.conformance.targets import guardian_process

pytestmark = pytest.mark.attack


@pytest.fixture
def sleeper():
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def listed(tmp_path, monkeypatch, sleeper):
    """The folder of the only process that the system lists; it has just been started."""
    folder = tmp_path / str(sleeper.pid)
    folder.mkdir()
    for name in ("environ", "cmdline"):
        (folder / name).write_bytes(b"")
    monkeypatch.setattr(guardian_process, "_PROCESSES", str(tmp_path))
    return folder


def test_harness_that_is_killed_leaves_nothing(tmp_path):
    program = """
import pathlib, time
from gateproof.conformance.run.drive.session import temporary_run_folder
from gateproof.conformance.targets.launch import launch
from gateproof.conformance.targets.model import Launch
with temporary_run_folder() as (folder, _):
    running = launch(Launch(command=("sleep", "60"), cwd=folder), output_file=folder / "output.log")
    ended = launch(Launch(command=("true",), cwd=folder), output_file=folder / "other.log")
    ended.stop()
    print(running.pid, folder, flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        pid, _, folder = process.stdout.readline().strip().partition(" ")
        assert (Path(folder) / "output.log").is_file()
    finally:
        process.kill()
        process.communicate()

    assert eventually(lambda: not alive(int(pid)) and not Path(folder).exists())


def test_folder_is_gone_after_a_worker_that_ends_later_than_its_parent():
    """It goes on writing into the folder, and makes it anew, for a second after the parent was killed."""
    writer = """
import os, pathlib, sys, time
place, parent = pathlib.Path(sys.argv[1]), os.getppid()
until = None
while until is None or time.monotonic() < until:
    (place / str(time.monotonic())).mkdir(parents=True, exist_ok=True)
    time.sleep(0.01)
    if until is None and os.getppid() != parent:
        until = time.monotonic() + 1
"""
    program = f"""
import subprocess, sys, time
from gateproof.conformance.run.drive.session import temporary_run_folder
with temporary_run_folder() as (folder, _):
    quiet = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-c", {writer!r}, str(folder)], stdin=quiet, stdout=quiet)
    print(folder, flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert eventually(lambda: any(folder.iterdir()))
    finally:
        process.kill()
        process.communicate()

    time.sleep(1.5)
    assert eventually(lambda: not folder.exists())


def test_process_that_is_loading_its_program_is_known_by_its_environment_a_moment_later(listed, sleeper):
    (listed / "exe").symlink_to(sys.executable)
    timer = threading.Timer(0.2, (listed / "environ").write_bytes, [b"A=1\0MARK=1\0"])
    timer.start()

    guardian_process.kill_marked({b"MARK=1"})

    timer.join()
    assert sleeper.wait(10) == -9


def test_process_that_loads_two_programs_in_turn_is_found(listed, sleeper, monkeypatch):
    """As `sh -c 'exec sleep 60'` does: at the second look it is loading again."""
    (listed / "exe").symlink_to(sys.executable)
    (listed / "cmdline").write_bytes(b"sh\0")
    states = iter([(b"", b""), (b"sleep\060\0", b"MARK=1\0")])

    def pause(_seconds):
        for name, octets in zip(("cmdline", "environ"), next(states, ()), strict=False):
            (listed / name).write_bytes(octets)

    monkeypatch.setattr(guardian_process, "time", SimpleNamespace(sleep=pause, monotonic=time.monotonic))
    monkeypatch.setattr(guardian_process, "_SEARCH_S", 0.2)

    guardian_process.kill_marked({b"MARK=1"})

    assert sleeper.wait(10) == -9


@pytest.mark.parametrize(
    ("what", "looks"),
    [("thread of the kernel", 1), ("of another target", 1), ("program without environment", 2)],
)
def test_search_ends_where_nothing_is_loading(listed, sleeper, monkeypatch, what, looks):
    if what != "thread of the kernel":
        (listed / "exe").symlink_to(sys.executable)
        (listed / "cmdline").write_bytes(b"sleep\060\0")
    if what == "of another target":
        (listed / "environ").write_bytes(b"MARK=2\0")
    seen = []
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda folder: seen.append(folder) or real(folder))

    guardian_process.kill_marked({b"MARK=1"})

    assert len(seen) == looks
    assert sleeper.poll() is None


def test_search_for_a_process_that_loads_for_ever_has_an_end(listed, sleeper, monkeypatch):
    (listed / "exe").symlink_to(sys.executable)
    seconds = itertools.count()
    pauses = []
    clock = SimpleNamespace(sleep=pauses.append, monotonic=lambda: float(next(seconds)))
    monkeypatch.setattr(guardian_process, "time", clock)
    monkeypatch.setattr(guardian_process, "_SEARCH_S", 5.0)

    guardian_process.kill_marked({b"MARK=1"})

    assert len(pauses) == 4
    assert sleeper.poll() is None
