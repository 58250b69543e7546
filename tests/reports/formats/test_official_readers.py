"""The readers and schemas of others accept our outputs, and refuse them when they are spoiled.

They live in an environment of their own, and are skipped, with the command to get them, where it is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gateproof.reports.files import rendered, write_reports
from gateproof.reports.formats import FORMATS
from gateproof.reports.verdicts import RunResult

ROOT = Path(__file__).resolve().parents[3]
READERS = ROOT / ".venv-readers"
PYTHON = READERS / "bin" / "python"
PACKAGES = READERS / "npm" / "node_modules"
SCRIPT = Path(__file__).with_name("reading.py")
# From the file of a format, what makes it wrong; every reader has to notice its own.
Spoil = Callable[[str], str]
READ: dict[str, tuple[str, Spoil]] = {
    "junit-schema": ("junit.xml", lambda text: text.replace("<testcase ", "<test ", 1)),
    "junit-reader": ("junit.xml", lambda text: text.replace('failures="4"', 'failures="3"', 1)),
    "sarif-schema": ("gateproof.sarif", lambda text: text.replace('"level": "error"', '"level": "fatal"', 1)),
    "har-schema": ("exchanges.har", lambda text: text.replace('"headersSize": -1', '"headersSize": "-1"', 1)),
    "har-reader": ("exchanges.har", lambda text: text.replace('"pageref": "REDEEM-05/a"', '"pageref": "-"')),
    "oscal-reader": (
        "oscal-assessment-results.json",
        lambda text: text.replace('"state": "satisfied"', '"state": "not-testable"', 1),
    ),
}

pytestmark = pytest.mark.needs("readers")
needs_packages = pytest.mark.needs("npm-readers")
READERS_OF = [pytest.param(name, marks=needs_packages if name == "har-schema" else ()) for name in READ]


@pytest.fixture(scope="module")
def written(
    runs: dict[str, RunResult], real_run: RunResult, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A folder with all outputs for each run."""
    base, runs = tmp_path_factory.mktemp("written"), {**runs, "real": real_run}
    for name, result in runs.items():
        write_reports(rendered(result, [each for each in FORMATS if each != "html"]), base / name)
    return {name: base / name for name in runs}


def read(reader: str, *paths: Path) -> subprocess.CompletedProcess[str]:
    # -I: neither this folder nor the caller's settings decide what is imported.
    command = [str(PYTHON), "-I", str(SCRIPT), reader, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


@pytest.mark.parametrize("reader", READERS_OF)
def test_readers_accept_every_run(reader: str, written: dict[str, Path]) -> None:
    file, _ = READ[reader]

    answer = read(reader, *(folder / file for folder in written.values()))

    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("reader", READERS_OF)
def test_readers_refuse_what_is_spoiled(reader: str, written: dict[str, Path], tmp_path: Path) -> None:
    file, spoil = READ[reader]
    whole = (written["mixed"] / file).read_text(encoding="utf-8")
    spoiled = tmp_path / file
    spoiled.write_text(spoil(whole), encoding="utf-8")
    assert spoiled.read_text(encoding="utf-8") != whole

    answer = read(reader, spoiled)

    assert answer.returncode == 1, answer.stderr
    assert answer.stdout.startswith(str(spoiled))


def packaged(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs something that npm packages hold."""
    env = {**os.environ, "ALLURE_NO_ANALYTICS": "true", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


@needs_packages
def test_the_sarif_validator_of_its_makers_finds_nothing_wrong(
    written: dict[str, Path], tmp_path: Path
) -> None:
    logs = [str(folder / "gateproof.sarif") for folder in written.values()]
    found = tmp_path / "found.sarif"
    programs = list(PACKAGES.glob("@microsoft/sarif-multitool-*/Sarif.Multitool"))
    if not programs:
        pytest.skip("its makers have none for this system")

    answer = packaged(
        programs[0], "validate", *logs, "--output", found, "--log", "ForceOverwrite", folder=tmp_path
    )

    assert answer.returncode == 0, answer.stdout + answer.stderr
    results = json.loads(found.read_text(encoding="utf-8-sig"))["runs"][0].get("results") or []
    # It would like an address at which the tool is explained; there is none that would not be made up.
    assert {result["ruleId"] for result in results} <= {"SARIF2005"}


@needs_packages
@pytest.mark.parametrize("run", ["mixed", "real"])
def test_allure_3_makes_a_report_without_analytics(
    run: str, written: dict[str, Path], tmp_path: Path
) -> None:
    made = tmp_path / "allure"
    results = written[run] / "allure-results"

    answer = packaged("node", PACKAGES / "allure" / "cli.js", "allure2", results, "-o", made, folder=tmp_path)

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert_allure(made, run)


@needs_packages
@pytest.mark.needs("java")
@pytest.mark.parametrize("run", ["mixed", "real"])
def test_allure_2_makes_a_report_without_analytics(
    run: str, written: dict[str, Path], tmp_path: Path
) -> None:
    made = tmp_path / "allure"
    command = PACKAGES / "allure-commandline" / "bin" / "allure"

    answer = packaged(
        "node", command, "generate", "-o", made, written[run] / "allure-results", folder=tmp_path
    )

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert_allure(made, run)


# By run: how many rules ended in each of Allure's statuses, and how many are in each of our categories.
ALLURE = {
    "mixed": (
        {"failed": 4, "broken": 1, "skipped": 4, "passed": 1},
        {
            "Broken, and decides": 2,
            "Broken, without deciding": 2,
            "Ended in an error": 1,
            "Not tested": 2,
            "Not applicable": 1,
            "Observed, not judged": 1,
        },
    ),
    "real": (
        {"failed": 4, "broken": 1, "skipped": 2, "passed": 2},
        {
            "Broken, and decides": 2,
            "Broken, without deciding": 2,
            "Ended in an error": 1,
            "Not tested": 1,
            "Observed, not judged": 1,
        },
    ),
}


def assert_allure(made: Path, run: str) -> None:
    """Every rule arrived with its status and category, every exchange with its text, and nobody is told."""
    summary = json.loads((made / "widgets" / "summary.json").read_text(encoding="utf-8"))
    counted = {name: count for name, count in summary["statistic"].items() if count and name != "total"}
    statuses, expected = ALLURE[run]
    assert counted == statuses
    categories = json.loads((made / "data" / "categories.json").read_text(encoding="utf-8"))
    named = {
        each["name"]: len([leaf for part in each["children"] for leaf in part["children"]])
        for each in categories["children"]
    }
    assert named == expected
    assert any(
        "⟨access_token#1⟩" in path.read_text(encoding="utf-8") for path in made.glob("data/attachments/*")
    )
    for path in [made / "index.html", *made.rglob("*.js")]:
        assert "googletagmanager" not in path.read_text(encoding="utf-8", errors="replace"), path
