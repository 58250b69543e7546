"""Which extras are there decides whether a test is skipped, and never whether it is red."""

from __future__ import annotations

import ast
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from warm import WARM

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = ROOT / "tests" / "conftest.py"
# With an interpreter that is named, they are forked.
WORKERS = ("--dist", "load", "--tx", f"2*popen//python={shlex.quote(sys.executable)}")
HELPERS = shlex.quote(str(ROOT / "tests" / "helpers"))
# What the system has or has not, and no `make extras` brings.
OF_THE_SYSTEM = ("/proc", "/dev/full", "geteuid", "fork", "pidfd_open")
SKIPPING = {"skip", "skipif", "importorskip", "xfail"}
TESTS = """
import pytest

def test_that_needs_nothing():
    pass

@pytest.mark.needs("readers")
def test_that_needs_readers():
    pass

@pytest.mark.needs("fastapi")
@pytest.mark.needs("readers")
def test_that_needs_more():
    pass
"""
Run = Callable[..., str]


def skips(source: str) -> Iterator[ast.expr]:
    """Every place at which a test may be skipped, but for those that the system alone decides on."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        of_pytest = ast.unparse(node.func.value) in {"pytest", "pytest.mark"}
        if (
            of_pytest
            and node.func.attr in SKIPPING
            and not any(each in ast.unparse(node) for each in OF_THE_SYSTEM)
        ):
            yield node


def test_a_test_is_skipped_for_what_it_says_it_needs_and_for_nothing_else() -> None:
    """Whoever looked for an extra by himself could as well claim something else where it is missing."""
    elsewhere = {
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in (ROOT / "tests").rglob("*.py")
        if path not in {CONFTEST, Path(__file__)} and "node_modules" not in path.parts
        for node in skips(path.read_text(encoding="utf-8"))
    }
    assert {each for each in elsewhere if "none for this system" not in each} == set()


def test_skips_are_found() -> None:
    planted = "import pytest\nif not shutil.which('node'):\n    pytest.skip('no Node')\n"
    assert len(list(skips(planted))) == 1
    assert not list(skips("pytest.mark.skipif(not Path('/proc').is_dir(), reason='no /proc')"))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A checkout with three tests of its own, run as often as one likes."""
    (tmp_path / "tests").mkdir()
    shutil.copy(CONFTEST, tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = -ra\npythonpath = {HELPERS}\n")
    (tmp_path / "tests" / "test_three.py").write_text(TESTS)

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*WARM, "pytest", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        return f"{done.returncode}: {done.stdout}"

    return run


def install(folder: Path, *venvs: str) -> None:
    for venv in venvs:
        (folder / venv / "bin").mkdir(parents=True)
        (folder / venv / "bin" / "python").touch()


@pytest.mark.parametrize("workers", [(), WORKERS], ids=["one-process", "workers"])
def test_what_was_skipped_is_run_once_the_extra_is_there(
    run: Run, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    first = run(*workers)
    assert first.startswith("0: ")
    assert "1 passed, 2 skipped" in first
    assert "needs readers: make readers" in first

    install(tmp_path, ".venv-readers")
    again = run("--skipped-before", *workers)
    assert again.startswith("0: ")
    assert "1 passed, 1 skipped" in again
    assert "needs fastapi: make extras" in again

    install(tmp_path, ".venv-fastapi")
    assert "2 passed" in run("--skipped-before", *workers)
    assert "3 passed" in run(*workers)
    nothing = run("--skipped-before", *workers)
    assert nothing.startswith("0: ")
    assert "passed" not in nothing


def test_a_module_in_which_nothing_was_skipped_is_not_read(run: Run, tmp_path: Path) -> None:
    run()
    (tmp_path / "tests" / "test_other.py").write_text("raise RuntimeError\n")
    install(tmp_path, ".venv-readers")
    assert "1 passed, 1 skipped" in run("--skipped-before")


def test_an_unknown_extra_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tests" / "test_three.py").write_text(TESTS.replace('"readers"', '"reader"'))
    assert "KeyError: 'reader'" in run()
