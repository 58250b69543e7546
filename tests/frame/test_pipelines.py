"""The pipelines of docs/sharding.md are valid for their systems, and their lines do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from warm import WARM

from gateproof.conformance.cli import shards

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = ROOT / "docs" / "pipelines"
READERS = ROOT / ".venv-readers" / "bin" / "python"
VALID = {
    "github.yml": ["check_jsonschema", "--builtin-schema", "vendor.github-workflows"],
    "gitlab.yml": ["check_jsonschema", "--builtin-schema", "vendor.gitlab-ci"],
    "kubernetes.yaml": ["kubernetes_validate", "--strict"],
}
# A line that a schema refuses, in place of one that stands there.
SPOILT = {
    "github.yml": ("runs-on: ubuntu-latest", "runs-in: ubuntu-latest"),
    "gitlab.yml": ("parallel: 4", "parallel: four"),
    "kubernetes.yaml": ("completionMode: Indexed", "completionModus: Indexed"),
}
# What each system sets for the first job; the index grows by one from job to job.
SET_BY: dict[str, Mapping[str, int]] = {
    "github.yml": {},
    "gitlab.yml": {"CI_NODE_INDEX": 1, "CI_PIPELINE_IID": 7},
    "kubernetes.yaml": {"JOB_COMPLETION_INDEX": 0},
}
FEW_RULES = ["--only", "DISC-0*", "--no-faults", "--quiet"]


def validated(name: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [str(READERS), "-I", "-m", *VALID[name], str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


@pytest.mark.needs("readers")
@pytest.mark.parametrize("name", VALID)
def test_pipeline_is_valid_by_the_schema_of_its_system(name: str, tmp_path: Path) -> None:
    done = validated(name, PIPELINES / name)
    assert done.returncode == 0, done.stdout + done.stderr

    right, wrong = SPOILT[name]
    text = (PIPELINES / name).read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong, 1))
    assert validated(name, tmp_path / name).returncode != 0


def lines(name: str, command: str) -> list[str]:
    """The lines of a pipeline that call a command of gateproof, without what YAML puts before them."""
    text = (PIPELINES / name).read_text()
    return [found.strip() for found in re.findall(rf"^[- \w:]*(gateproof {command} .*)$", text, re.MULTILINE)]


def carried_out(line: str, folder: Path, variables: Mapping[str, str]) -> None:
    """Runs a line as a shell does, in one process in place of a machine."""
    for name, value in variables.items():
        line = line.replace(f"${{{{ {name} }}}}", value).replace(f"${name}", value)
    program, command, *arguments = shlex.split(line)
    assert program == "gateproof"
    assert "$" not in " ".join(arguments), "a variable that the system does not set"
    found = [*map(str, sorted(folder.glob("shards/*")))] if command == "merge" else []
    given = [each for each in arguments if each not in {"shards/*", "--target", "gateway.toml"}]
    done = subprocess.run(
        [*WARM, "gateproof", command, *found, *given, *(() if found else FEW_RULES)],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", VALID)
def test_lines_of_a_pipeline_make_one_verdict_of_all_shards(name: str, tmp_path: Path) -> None:
    # With two shards it is quicker, and the same.
    (run,) = lines(name, "run")
    merge = lines(name, "merge") or lines("gitlab.yml", "merge")
    (tmp_path / "shards").mkdir()

    for k in range(2):
        own = {
            variable: str(value + k if "INDEX" in variable else value)
            for variable, value in SET_BY[name].items()
        }
        own |= {"CI_NODE_TOTAL": "2"} if name == "gitlab.yml" else {}
        own |= {"JOB_COMPLETIONS": "2"} if name == "kubernetes.yaml" else {}
        own |= {"matrix.shard": str(k + 1), "github.run_number": "7"} if name == "github.yml" else {}
        at = f"shards/{k + 1}"
        # GitHub's artefacts and the volume of the Job put the folders of the shards side by side.
        line = run.replace("/4", "/2").replace("--out shard", f"--out {at}") if name == "github.yml" else run
        carried_out(line.replace("/shards/", "shards/"), tmp_path, own)
    carried_out(merge[0], tmp_path, {})

    report = json.loads((tmp_path / "gateproof-report" / "report.json").read_text())
    assert report["verdict"] == "conformant"
    assert {rule["id"] for rule in report["rules"]} >= {"DISC-01", "DISC-05"}


def test_page_names_every_system_that_is_known() -> None:
    page = (ROOT / "docs" / "sharding.md").read_text()

    for index, _, total in shards._NUMBERED_BY:
        assert f"| `{index}` | `{total}`" in page
