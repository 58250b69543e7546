"""The wheel beside other people's packages of the same names, called from a folder full of traps."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ("conformance", "fakes", "reference", "reports")
ONE_RULE = {"gateway": "DISC-01", "service": "META-01", "agent": "AGENT-01"}
# A module of the standard library that every part of a run imports, and folders that have the names of ours.
TRAPS = ("secrets.py", "json.py", "fakes/__init__.py", "reports/__init__.py", "gateproof/__init__.py")
SPRUNG = "sprung.txt"


def called(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=180, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from the sdist, as an index would have both."""
    out = tmp_path_factory.mktemp("dist")
    made = called(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", out, cwd=ROOT)
    assert made.returncode == 0, made.stderr
    (sdist,) = out.glob("*.tar.gz")
    unpacked = tmp_path_factory.mktemp("sdist")
    assert called("tar", "-xzf", sdist, "--strip-components=1", cwd=unpacked).returncode == 0
    made = called(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=unpacked)
    assert made.returncode == 0, made.stderr
    (found,) = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that has the wheel, foreign packages, and what gateproof depends on."""
    venv = tmp_path_factory.mktemp("somebody's") / "venv"
    assert called(sys.executable, "-m", "venv", venv, cwd=venv.parent).returncode == 0
    python = venv / "bin" / "python"
    there = called(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=venv)
    packages = Path(there.stdout.strip())
    for name in FOREIGN:
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text("raise SystemExit('somebody else')\n")
    # The dependencies are those that the tests run with; the editable gateproof there is not found by this.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    made = called(python, "-m", "pip", "install", "--no-deps", "--no-index", wheel, cwd=venv)
    assert made.returncode == 0, made.stderr
    return venv / "bin" / "gateproof"


def test_the_wheel_has_one_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"gateproof"}
    assert "gateproof/conformance/faults/intercept/requirements.txt" in names
    for folder in FOREIGN:
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        here = {path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts}
        assert {f"gateproof/{name}" for name in here} <= set(names)


@pytest.mark.parametrize("role", ONE_RULE)
def test_a_rule_is_asked_from_a_folder_full_of_traps(installed: Path, tmp_path: Path, role: str) -> None:
    for name in TRAPS:
        trap = tmp_path / name
        trap.parent.mkdir(exist_ok=True)
        trap.write_text(f"import pathlib; pathlib.Path({SPRUNG!r}).touch(); raise SystemExit('a trap')\n")
    which = [] if role == "gateway" else [role]
    command = [installed, "run", *which, "--only", ONE_RULE[role], "--workers", "2", "--no-intercept"]
    done = called(*command, cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "conformant" in done.stdout
    assert not (tmp_path / SPRUNG).exists()
    assert not list(tmp_path.rglob("__pycache__"))
