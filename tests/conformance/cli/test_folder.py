"""A folder of findings belongs to one command at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateproof.conformance.cli import main
from gateproof.conformance.cli.folder import claimed

pytestmark = pytest.mark.attack

# Nobody is there: the first line of the record says so.
TARGET = """
[target]
role = "gateway"
name = "nobody"
version = "0"
base_url = "http://127.0.0.1:9"
core_url = "http://127.0.0.1:9"
"""


def test_second_command_is_kept_out_and_the_next_one_is_let_in(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    with (
        claimed(folder),
        pytest.raises(ValueError, match="another gateproof is writing there"),
        claimed(folder),
    ):
        pass
    with claimed(folder):
        assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "command", [["run", "--only", "DISC-01"], ["prove", "--only", "discovery-is-a-list"]]
)
def test_commands_that_write_say_that_somebody_else_does(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with claimed(tmp_path):
        assert main([*command, "--out", str(tmp_path)]) == 2
    assert "choose another folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["replay/mine.json", "badge.svg", "report.html"])
@pytest.mark.parametrize("command", ["run", "report", "merge"])
def test_files_of_somebody_else_are_kept(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a run of before is there: only a folder with its record belongs to gateproof."""
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    target = tmp_path / "target.toml"
    target.write_text(TARGET)
    shards = [tmp_path / "one", tmp_path / "two"]
    for number, shard in enumerate(shards, start=1):
        main(["run", "--target", str(target), "--quiet", "--shard", f"{number}/2", "--out", str(shard)])
    arguments = {
        "run": ["run", "--target", str(target), "--quiet"],
        "report": ["report", str(shards[0])],
        "merge": ["merge", *map(str, shards)],
    }[command]
    capsys.readouterr()

    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert f"found {name}" in capsys.readouterr().err
    assert mine.read_text() == "mine"


def test_link_in_place_of_an_output_is_not_followed(tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.write_text("mine")
    out.mkdir()
    target = tmp_path / "target.toml"
    target.write_text(TARGET)
    for name in ("report.json.part", "evidence.jsonl", "seal.pub.pem"):
        (out / name).symlink_to(outside)

    assert main(["run", "--target", str(target), "--quiet", "--out", str(out)]) == 3
    assert outside.read_text() == "mine"
    assert main(["verify", str(out)]) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to this user")
def test_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="expected a folder that can be written"), claimed(tmp_path / "in"):
        pass


def test_disk_that_is_full_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line: what a traceback would add is of no use, and its exit code would be that of a failure."""

    def full(_file: int, _octets: bytes) -> int:
        raise OSError(28, "No space left on device")

    target = tmp_path / "target.toml"
    target.write_text(TARGET)
    monkeypatch.setattr("gateproof.reports.evidence.os.write", full)
    assert main(["run", "--target", str(target), "--quiet", "--out", str(tmp_path)]) == 3
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert said.count("\n") == 1
