"""What a target printed is there for whoever asks right after it was printed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateproof.conformance.targets.output import Output


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Output]:
    output = Output(tmp_path / "output")
    yield output
    output.wait(5)


def test_a_line_is_read_before_the_thread_had_its_turn(output: Output) -> None:
    os.write(output.pipe, b"one\n")
    # The thread that drains the pipe is not running yet.
    assert output.since() == "one\n"
    assert output.kept == 4
    output.start()


def test_every_line_is_there_as_soon_as_it_was_written(output: Output) -> None:
    pipe = os.dup(output.pipe)
    output.start()
    for number in range(200):
        os.write(pipe, f"line {number}\n".encode())
        assert output.since().endswith(f"line {number}\n")
    os.close(pipe)
    output.wait(5)
    assert output.since().count("\n") == 200


def test_lines_in_a_row_are_copied_together(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, chunks = os.dup(output.pipe), list[int]()
    monkeypatch.setattr(output, "_keep", lambda chunk: chunks.append(len(chunk)))
    monkeypatch.setattr("gateproof.conformance.targets.output._MOMENT_S", 60.0)
    output.start()
    for _ in range(200):
        os.write(pipe, b"a line\n")
    os.close(pipe)
    output.wait(5)
    # The first chunk may be one line; all others came while the thread waited for more.
    assert sum(chunks) == 200 * len("a line\n")
    assert len(chunks) <= 2


def test_beyond_the_bound_it_is_counted_and_not_kept(tmp_path: Path) -> None:
    output = Output(tmp_path / "output", largest=10)
    os.write(output.pipe, b"x" * 25)
    assert (output.since(), output.kept, output.dropped) == ("x" * 10, 10, 15)
    output.start()
    output.wait(5)
    assert output.dropped == 15
