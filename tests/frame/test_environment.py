"""An environment is made once, completed when more is asked for, and made again when it cannot be trusted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripts import imported

if TYPE_CHECKING:
    pass

ROOT = Path(__file__).resolve().parents[2]
environment = imported("environment", ROOT / "requirements" / "environment.py")
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


class Machine:
    """What would run: making a virtual environment leaves an interpreter, pip can be told to break."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.pip_fails_at: str | None = None

    def run(self, *command: str | Path, **_: object) -> None:
        words = [str(part) for part in command]
        if words[1:3] == ["-m", "venv"]:
            self.done.append("venv")
            binaries = Path(words[3]) / "bin"
            binaries.mkdir()
            (binaries / "python").symlink_to(sys.executable)
            (binaries.parent / "pyvenv.cfg").touch()
            return
        what = "project" if "--editable" in words else Path(words[-1]).name
        self.done.append(what)
        if what == self.pip_fails_at:
            raise environment.InstallError("the network is away")

    def take(self) -> list[str]:
        done, self.done = self.done, []
        return done


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(environment, "run", machine.run)
    return machine


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    return tmp_path / "with a space" / ".venv"


def test_the_second_time_there_is_nothing_to_do(machine: Machine, venv: Path) -> None:
    environment.ensure(venv, "run", None)
    assert machine.take() == ["venv", "run.txt", "project"]

    environment.ensure(venv, "run", None)
    assert machine.take() == []


def test_more_is_added_and_less_is_there_already(machine: Machine, venv: Path) -> None:
    environment.ensure(venv, "run", None)
    machine.take()

    environment.ensure(venv, "dev", None)
    assert machine.take() == ["dev.txt", "project"]

    environment.ensure(venv, "run", None)
    assert machine.take() == []


def test_an_installation_that_broke_off_is_begun_afresh(machine: Machine, venv: Path) -> None:
    machine.pip_fails_at = "run.txt"
    with pytest.raises(environment.InstallError):
        environment.ensure(venv, "run", None)
    (venv / "half-a-package").touch()
    machine.pip_fails_at = None
    machine.take()

    environment.ensure(venv, "run", None)

    assert machine.take() == ["venv", "run.txt", "project"]
    assert not (venv / "half-a-package").exists()


def test_a_changed_lock_means_a_new_environment(
    machine: Machine, venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.ensure(venv, "run", None)
    machine.take()
    monkeypatch.setattr(environment, "digest", lambda _: "another")

    environment.ensure(venv, "run", None)

    assert machine.take() == ["venv", "run.txt", "project"]


def test_another_version_means_a_new_environment(
    machine: Machine, venv: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is installed states the version of its installation."""
    project = tmp_path / "project"
    (project / "gateproof").mkdir(parents=True)
    (project / "requirements").symlink_to(ROOT / "requirements")
    (project / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    version = project / "gateproof" / "__init__.py"
    monkeypatch.setattr(environment, "ROOT", project)
    version.write_text('__version__ = "1"\n', encoding="utf-8")
    environment.ensure(venv, "run", None)
    machine.take()
    version.write_text('__version__ = "2"\n', encoding="utf-8")

    environment.ensure(venv, "run", None)

    assert machine.take() == ["venv", "run.txt", "project"]


def test_an_environment_that_was_moved_is_made_again(machine: Machine, venv: Path) -> None:
    environment.ensure(venv, "run", None)
    moved = venv.parent.rename(venv.parent.with_name("elsewhere")) / venv.name
    machine.take()

    environment.ensure(moved, "run", None)

    assert machine.take() == ["venv", "run.txt", "project"]


def test_only_a_python_that_was_asked_for_by_name_replaces_the_one_in_use(
    machine: Machine, venv: Path
) -> None:
    environment.ensure(venv, "run", HERE)
    machine.take()

    environment.ensure(venv, "run", HERE)
    assert machine.take() == []

    environment.ensure(venv, "run", "3.99")
    assert machine.take()[0] == "venv"


INSTALLS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import environment
environment.PIP_LIMIT_S = 1
with environment.one_at_a_time(Path(sys.argv[2])):
    print("installs")
"""


def test_two_installations_at_a_time_are_of_two_environments(tmp_path: Path) -> None:
    def another(venv: str) -> str:
        command = [sys.executable, "-c", INSTALLS, str(ROOT / "requirements"), str(tmp_path / venv)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout + done.stderr

    with environment.one_at_a_time(tmp_path / ".venv"):
        assert another(".venv-of-another-kind") == "installs\n"
        waited = another(".venv")
        assert waited.startswith("gateproof: waiting for another installation into .venv to end\n")
        assert "InstallError: another installation does not end" in waited
    assert another(".venv") == "installs\n"


def test_somebodys_own_environment_is_completed_and_not_deleted(machine: Machine, venv: Path) -> None:
    venv.mkdir(parents=True)
    machine.run(sys.executable, "-m", "venv", venv)
    (venv / "their-tool").touch()
    machine.take()

    environment.ensure(venv, "run", None)

    assert machine.take() == ["run.txt", "project"]
    assert (venv / "their-tool").exists()


def test_a_folder_that_is_no_environment_is_left_alone(machine: Machine, venv: Path) -> None:
    venv.mkdir(parents=True)
    (venv / "thesis.txt").touch()

    with pytest.raises(environment.InstallError, match="not a virtual environment"):
        environment.ensure(venv, "run", None)

    assert (venv / "thesis.txt").exists()


def test_a_link_to_another_environment_is_left_alone(machine: Machine, venv: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    venv.parent.mkdir(parents=True, exist_ok=True)
    venv.symlink_to(elsewhere)

    with pytest.raises(environment.InstallError, match="is a link"):
        environment.ensure(venv, "run", None)

    assert elsewhere.exists()


def test_the_interpreter_is_found_by_running_it_and_not_by_its_name(tmp_path: Path) -> None:
    # A version manager's shim: there, executable, and of no use.
    for name in ("python3", "python3.13"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "python3.12").symlink_to(sys.executable)

    assert find_python(PATH=f"{tmp_path}:/usr/bin:/bin").stdout.strip() == f"{tmp_path}/python3.12"


@pytest.mark.parametrize("arguments", [[], ["--newest"]])
def test_no_interpreter_is_one_clear_line(tmp_path: Path, arguments: list[str]) -> None:
    found = find_python(*arguments, PATH=str(tmp_path))

    assert found.returncode == 1
    assert found.stdout == ""
    assert len(found.stderr.splitlines()) == 1
    assert "3.11, 3.12 or 3.13" in found.stderr


def test_an_interpreter_that_was_named_and_does_not_run_is_not_replaced_by_another() -> None:
    found = find_python(PATH=os.environ["PATH"], PYTHON="no-such-python")

    assert found.returncode == 1
    assert "no-such-python" in found.stderr


def find_python(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", str(ROOT / "requirements" / "find-python.sh"), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)


def test_progress_is_told_and_what_pip_says_besides_is_kept_for_its_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "TOLD_EVERY_S", -1.0)
    progress = environment.Progress("run", 2)
    for line in ("WARNING: an index is odd\n", "Collecting one==1\n", "Requirement already satisfied: two\n"):
        progress.line(line)
    progress.end(failed=False)
    told = capsys.readouterr()
    assert told.out.splitlines()[-1] == "gateproof: run.txt: 2 of 2 packages"
    assert told.err == ""

    progress.line("ERROR: no matching distribution\n")
    progress.end(failed=True)
    assert "ERROR: no matching distribution" in capsys.readouterr().err


def test_a_command_is_heard_to_its_end_and_its_failure_is_told() -> None:
    heard: list[str] = []
    script = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(int(sys.argv[1]))"
    environment.run(sys.executable, "-u", "-c", script, "0", on_line=heard.append)
    assert sorted(heard) == ["one\n", "two\n"]
    with pytest.raises(environment.InstallError, match="ended with 3"):
        environment.run(sys.executable, "-c", script, "3", on_line=heard.append)
