"""What a command and the processes that it starts used is added up, by party."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import processes
import pytest

BUSY = "import time; end = time.process_time() + 1.5\nwhile time.process_time() < end: pass"
STARTS_BUSY = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"


@pytest.mark.parametrize(
    ("command_line", "party"),
    [
        ("/x/python -P -m gateproof.reference.gateway --exit-with-stdin", "gateway"),
        ("/x/python -m reference.gateway --exit-with-stdin", "gateway"),
        ("/x/python -P -m gateproof.reference.service", "service"),
        ("/x/python -P -m gateproof.fakes.merchant", "merchant"),
        ("merchant: /x/python /x/bin/gateproof run", "merchant"),
        ("worker: /x/python /x/bin/gateproof run", "harness"),
        ("/x/python /x/bin/mitmdump -q", "proxy"),
        ("/x/python /x/bin/gateproof run --target reference.gateway.toml", "harness"),
        ("", "harness"),
    ],
)
def test_a_process_belongs_to_a_party_by_its_command_line(command_line: str, party: str) -> None:
    assert processes.party(command_line) == party


def test_time_and_memory_of_started_processes_count(tmp_path: Path) -> None:
    usage = processes.measured([sys.executable, "-c", STARTS_BUSY], tmp_path, 60)

    assert usage.exit_code == 0
    assert usage.processor_s >= 1.5
    assert usage.processor_s_of["harness"] > 0
    assert usage.memory_mb >= usage.pss_mb > 0


def test_memory_that_processes_share_counts_once_in_the_proportional_size() -> None:
    """A parent and a child that was forked from it have the same hundred megabytes."""
    program = "import os, sys; held = b'x' * 100_000_000; os.fork(); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for _ in range(2):
            running.stdout.readline()
        found = processes.look(running.pid)
        running.stdin.close()

    assert found.processes == 2
    assert found.memory_mb > 200
    assert 100 < found.pss_mb < 150


def test_output_goes_to_a_file(tmp_path: Path) -> None:
    with (tmp_path / "printed").open("w") as output:
        processes.measured([sys.executable, "-c", "print('said')"], tmp_path, 60, output=output)

    assert (tmp_path / "printed").read_text() == "said\n"


def test_a_command_is_ended_after_the_limit(tmp_path: Path) -> None:
    before = processes.tree(os.getpid())

    with pytest.raises(SystemExit, match=r"took more than 1 s"):
        processes.measured([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, 1)

    assert set(processes.tree(os.getpid())) <= set(before)


def test_tree_has_all_descendants() -> None:
    waits = "import sys; sys.stdin.read()"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {waits!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as running:
        while len(processes.tree(running.pid)) < 2:
            assert running.poll() is None
        assert running.stdin is not None
        running.stdin.close()


def test_proportional_size_is_read_from_the_kernels_text() -> None:
    assert (
        processes.pss_kb("55d0-7fff ---p 00000000 00:00 0 [rollup]\nRss: 90 kB\nPss: 41 kB\nPss_Anon: 7 kB")
        == 41
    )
    assert processes.pss_kb("") == 0
