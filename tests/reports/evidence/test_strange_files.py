"""A folder that somebody prepared ends `verify` with a reason, in bounded time and memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateproof.conformance.cli import main
from gateproof.reports import seal
from gateproof.reports.escaping import harmless
from gateproof.reports.plain_files import NotPlain, read_plain
from gateproof.reports.record import FILE, Unreadable, read

pytestmark = pytest.mark.attack

NAMES = (FILE, *seal.FILES, "report.json", "notes.txt")


def test_record_that_never_ends_is_not_waited_for(kit: Any) -> None:
    bundle = kit.bundle()
    bundle.evidence.unlink()
    os.mkfifo(bundle.evidence)
    assert bundle.first().startswith(FILE)
    bundle.evidence.unlink()
    bundle.evidence.symlink_to("/dev/zero")
    assert bundle.first().startswith(FILE)
    with pytest.raises(Unreadable, match="it is a link"):
        read(bundle.evidence)


def test_huge_file_is_not_read(kit: Any) -> None:
    bundle = kit.bundle()
    with (bundle.folder / "huge.bin").open("wb") as file:
        file.truncate(20 * 1024**3)

    found = bundle.verify()

    assert found.first.file == "huge.bin"
    assert any("was not searched for credentials" in each.text for each in found.findings)


@pytest.mark.parametrize("name", ["report.json", seal.VERDICTS, seal.PUBLIC_KEY])
def test_listed_file_that_grew_is_a_finding(kit: Any, name: str) -> None:
    bundle = kit.bundle()
    with (bundle.folder / name).open("ab") as file:
        file.truncate(20 * 1024**3)

    assert bundle.first().startswith(name)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert read_plain(tmp_path / "file") == b"abc"
    with pytest.raises(NotPlain, match="3 bytes, more than 2"):
        read_plain(tmp_path / "file", 2)
    with pytest.raises(NotPlain, match="not a regular file"):
        read_plain(tmp_path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(name=st.sampled_from(NAMES), content=st.binary(max_size=400), cut=st.integers(0, 4000))
def test_any_bytes_as_any_file_end_with_a_reason(kit: Any, name: str, content: bytes, cut: int) -> None:
    bundle = kit.bundle()
    path = bundle.folder / name
    before = path.read_bytes()
    path.write_bytes(before[:cut] + content)
    try:
        found = bundle.verify()
        assert (found.first is None) is (path.read_bytes() == before)
    finally:
        path.write_bytes(before)


LINES = ("dropped", "doubled", "moved")


@pytest.mark.parametrize("change", LINES)
@pytest.mark.parametrize("number", range(12))
def test_first_line_that_is_wrong_is_named(kit: Any, change: str, number: int) -> None:
    bundle = kit.bundle()
    lines = bundle.evidence.read_bytes().splitlines(keepends=True)
    assert len(lines) == 12
    line = lines.pop(number)
    if change == "doubled":
        lines[number:number] = [line, line]
    elif change == "moved":
        lines.insert((number + 5) % 12, line)
    bundle.evidence.write_bytes(b"".join(lines))

    assert bundle.first().startswith(FILE)


def test_names_of_files_command_no_terminal_and_no_ci(kit: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = kit.bundle()
    (bundle.folder / "a\x1b[31m\nb##vso[task.setvariable variable=x]y").touch()

    main(["verify", str(bundle.folder)])

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "##vso[" not in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("::set-output name=x::y", "\u200b::set-output name=x::y"),
        ("  ::error::x", "  \u200b::error::x"),
        ("x ##vso[a]b", "x ##\u200bvso[a]b"),
        ("##[error]x", "##\u200b[error]x"),
        ("##teamcity[x]", "##\u200bteamcity[x]"),
        ("\x1b[0Ksection_start:1:x\r", "\\x1b[0Ksection_start:1:x\\x0d"),
        ("a::b ## c [d]", "a::b ## c [d]"),
    ],
)
def test_text_for_machines_is_harmless(text: str, expected: str) -> None:
    assert harmless(text) == expected
