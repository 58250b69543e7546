"""A virtual environment holds exactly what the lock says, and is made again when it cannot be trusted.

`python requirements/environment.py .venv run` makes or completes `.venv` from `requirements/run.txt`.
It needs nothing but the standard library, and does nothing when there is nothing to do.

A stamp inside the environment says what was installed. It reads "unfinished" while pip works, so an
installation that was interrupted is thrown away instead of being mended: half a package looks whole to pip.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
STAMP = "gateproof-install.json"
# What each lock file brings along: dev.txt repeats every pin of run.txt.
COVERS = {
    "run": {"run"},
    "dev": {"dev", "run"},
    "intercept": {"intercept"},
    "mcp-sdk": {"mcp-sdk"},
    "fastapi": {"fastapi"},
    "lock": {"lock"},
    "readers": {"readers"},
    "browser": {"browser", "run"},
}
WITH_THE_PROJECT = {"run", "dev", "browser"}
PIP_LIMIT_S = 1200
# A caller's own habits would send the packages elsewhere.
FOREIGN = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "PYTHONPATH")


class InstallError(Exception):
    """The environment could not be made; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """One finished installation: where, for which Python, from which lock."""

    place: str
    python: str
    lock: str
    lock_digest: str
    project_digest: str


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_of_the_project() -> str:
    """How the project is packed; a changed setting of a linter is no reason to install anew."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packing = [settings["project"], settings["build-system"], settings.get("tool", {}).get("hatch")]
    return hashlib.sha256(json.dumps(packing, sort_keys=True).encode()).hexdigest()


def wanted(venv: Path, lock: str, python: str) -> Stamp:
    return Stamp(
        place=str(venv),
        python=python,
        lock=lock,
        lock_digest=digest(ROOT / "requirements" / f"{lock}.txt"),
        project_digest=digest_of_the_project(),
    )


def stamp_of(venv: Path) -> Stamp | None:
    """None where an installation was begun and not finished, or where nobody stamped at all."""
    try:
        return Stamp(**json.loads((venv / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_sound(venv: Path, python: str | None) -> bool:
    """An environment that was moved, or made for another lock or Python, is of no use."""
    found = stamp_of(venv)
    return (
        found is not None
        and (venv / "bin" / "python").exists()
        and found.lock in COVERS
        and found == wanted(venv, found.lock, python or found.python)
    )


def has_all_of(venv: Path, lock: str, python: str | None) -> bool:
    found = stamp_of(venv)
    return found is not None and is_sound(venv, python) and lock in COVERS[found.lock]


def run(*command: str | Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    env |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    try:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            timeout=PIP_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from None
    if done.returncode:
        raise InstallError(f"the command above ended with {done.returncode}")


def make_empty(venv: Path) -> None:
    """Only what is an environment, or was begun as one, is ever deleted."""
    if venv.exists():
        if not (venv / "pyvenv.cfg").exists() and not (venv / STAMP).exists() and any(venv.iterdir()):
            raise InstallError(f"{venv} is there already and is no virtual environment; move it away")
        shutil.rmtree(venv)
    venv.mkdir(parents=True)
    write_stamp(venv, "unfinished")
    # The interpreter that runs this may be the one of the environment that was just deleted.
    run(getattr(sys, "_base_executable", sys.executable), "-m", "venv", venv)


def write_stamp(venv: Path, text: str) -> None:
    fresh = venv / f"{STAMP}.new"
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(venv / STAMP)


def install(venv: Path, lock: str) -> None:
    """Wheels only, and only those of the lock: building from source would fetch what no digest covers."""
    python = venv / "bin" / "python"
    pip = (python, "-m", "pip", "-qq", "install", "--retries", "5")
    lock_file = ROOT / "requirements" / f"{lock}.txt"
    run(*pip, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", lock_file)
    if lock in WITH_THE_PROJECT:
        run(*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT)


def version_of(venv: Path) -> str:
    asked = "import sys; print(*sys.version_info[:2], sep='.')"
    command = [str(venv / "bin" / "python"), "-c", asked]
    return subprocess.check_output(command, text=True, timeout=60).strip()


def ensure(venv: Path, lock: str, python: str | None) -> None:
    """`python` is the version that must be used; None keeps the one that the environment has.

    An environment without a stamp is somebody's own: it is completed, never deleted.
    """
    if has_all_of(venv, lock, python):
        return
    with only_one_at_a_time():
        if has_all_of(venv, lock, python):
            return
        somebodys_own = (venv / "bin" / "python").exists() and not (venv / STAMP).exists()
        if not somebodys_own and not is_sound(venv, python):
            make_empty(venv)
        version = version_of(venv)
        print(f"gateproof: installing {lock}.txt into {venv.name} (Python {version})", flush=True)
        write_stamp(venv, "unfinished")
        install(venv, lock)
        write_stamp(venv, json.dumps(asdict(wanted(venv, lock, version)), indent=1))


@contextlib.contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Two makes side by side must not install into one environment."""
    with Path(__file__).open("rb") as lock:
        for attempt in range(PIP_LIMIT_S):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if attempt == 0:
                    print("gateproof: waiting for another installation to end", flush=True)
                time.sleep(1)
        else:
            raise InstallError("another installation does not end")
        yield


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[1] not in COVERS:
        print(f"usage: environment.py DIRECTORY {'|'.join(COVERS)}", file=sys.stderr)
        return 2
    asked_for = f"{sys.version_info.major}.{sys.version_info.minor}" if os.environ.get("PYTHON") else None
    venv = ROOT / arguments[0]
    try:
        ensure(venv, arguments[1], asked_for)
    except InstallError as error:
        print(f"gateproof: {venv} is not ready: {error}; `make clean` removes it", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("gateproof: interrupted; the next run starts the installation afresh", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
