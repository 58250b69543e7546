"""The table of formats holds for every run: same bytes, own names, nothing stale, nobody else's files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gateproof.reports.files import rendered, write_reports
from gateproof.reports.formats import DEFAULT, FORMATS, render
from gateproof.reports.replay_files import paths
from gateproof.reports.verdicts import RunResult


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_run_gives_the_same_bytes(name: str, sample: RunResult) -> None:
    assert render(name, sample) == render(name, sample)


def test_the_bytes_do_not_depend_on_the_process() -> None:
    # Another hash seed, time zone and language: whatever could creep in that is not in the run itself.
    program = """
import json
from hashlib import sha256
from gateproof.reports.exchanges import Shown
from gateproof.reports.formats import FORMATS, render
from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, RunVerdict, Verdict
shown = Shown(step="s", method="GET", url="https://a.test/", status=200, at_s=5.0)
check = CheckResult(
    id="DISC-01/a", rule="DISC-01", verdict=Verdict.FAILED, observations={"a": 1}, exchanges=(shown,)
)
rule = RuleResult(
    id="DISC-01", level="spec", title="t", section="s", verdict=Verdict.FAILED, checks=(check,)
)
result = RunResult(
    role="gateway",
    verdict=RunVerdict.NOT_CONFORMANT,
    reason="r",
    rules=(rule,),
    target={"name": "n"},
    run={"started": "2026-11-21T10:00:00+01:00", "seed": 1},
)
made = {name: render(name, result) for name in FORMATS}
print(json.dumps({name: {path: sha256(data).hexdigest() for path, data in files.items()}
                  for name, files in made.items()}))
"""
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language, "PATH": "/usr/bin:/bin"},
            cwd=Path(__file__).resolve().parents[3],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed, zone, language in (("1", "UTC", "C"), ("2", "Asia/Tokyo", "C.UTF-8"))
    ]
    assert found[0] == found[1]
    assert set(json.loads(found[0])) == set(FORMATS)


def present(folder: Path) -> list[str]:
    return [name for name, row in FORMATS.items() if row.files_in(folder)]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_owns_exactly_what_it_writes(name: str, sample: RunResult, tmp_path: Path) -> None:
    written = write_reports(rendered(sample, [name]), tmp_path)

    left = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert set(written) == left
    # Of a run without a failure there is nothing to repeat, and of most there are no pictures.
    if (sample.rules or name != "allure") and (left or name not in {"replay", "pictures"}):
        assert present(tmp_path) == [name]
        assert set(FORMATS[name].files_in(tmp_path)) == left


def test_the_default_set_is_what_a_run_leaves(runs: dict[str, RunResult], tmp_path: Path) -> None:
    assert DEFAULT == ("json", "html", "junit", "summary", "replay", "pictures")
    written = write_reports(rendered(runs["mixed"]), tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in written]
    assert names[:4] == ["report.json", "report.html", "junit.xml", "summary.md"]
    assert names[4:] == list(paths(runs["mixed"]).values())


def test_what_an_earlier_run_left_is_gone(runs: dict[str, RunResult], tmp_path: Path) -> None:
    others = [name for name in FORMATS if name not in DEFAULT]
    write_reports(rendered(runs["mixed"], others), tmp_path)
    assert set(present(tmp_path)) == set(others)

    write_reports(rendered(runs["green"], ["json"]), tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_what_is_not_ours_stays(runs: dict[str, RunResult], tmp_path: Path) -> None:
    theirs = tmp_path / "allure-results"
    theirs.mkdir()
    kept = [
        tmp_path / "evidence.jsonl",
        tmp_path / "thesis.md",
        theirs / "0b0e8a52-3c5e-4b7d-9d3c-0a4cf9a1e4f1-result.json",
        theirs / "environment.properties",
    ]
    for path in kept:
        path.write_text("mine", encoding="utf-8")

    write_reports(rendered(runs["mixed"], ["json"]), tmp_path)

    assert all(path.read_text(encoding="utf-8") == "mine" for path in kept)


def test_a_guard_sees_everything_before_anything_is_written(
    runs: dict[str, RunResult], tmp_path: Path
) -> None:
    seen: list[str] = []

    def guard(path: str, content: bytes) -> None:
        seen.append(path)
        assert content
        if path == "summary.md":
            raise ValueError("a secret")

    with pytest.raises(ValueError, match="a secret"):
        write_reports(rendered(runs["mixed"]), tmp_path / "new", guard=guard)

    assert seen == ["report.json", "report.html", "junit.xml", "summary.md"]
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in {"json", "har"}])
def test_no_output_for_people_hides_or_turns_text(name: str, sample: RunResult) -> None:
    """Where programs read what was said, JSON escapes it; everywhere else it is marked."""
    for path, content in render(name, sample).items():
        found = {"\x00", "\x0b", "\x1b", "\u202e", "\u2028", "\ufffe"} & set(content.decode("utf-8"))
        assert not found, path
