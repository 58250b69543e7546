"""Creates and updates virtual environments from the lock files.

`python requirements/environment.py .venv run` creates or completes `.venv` from `requirements/run.txt`. It
uses only the standard library, and does nothing if the environment is complete.

A stamp file in the environment records what was installed. It says "unfinished" while pip runs. An
interrupted installation is deleted, because pip takes an incomplete package for installed.
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
import threading
import time
import tomllib
import zlib
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
STAMP = "gateproof-install.json"
# The locks that each lock includes: dev.txt has every pin of run.txt, and all.txt those of dev.txt.
COVERS = {
    "run": {"run"},
    "dev": {"dev", "run"},
    "intercept": {"intercept"},
    "mcp-sdk": {"mcp-sdk"},
    "fastapi": {"fastapi"},
    "lock": {"lock"},
    "mutants": {"mutants"},
    "readers": {"readers"},
    "all": {"all", "dev", "run"},
}
WITH_THE_PROJECT = {"run", "dev", "all"}
PIP_LIMIT_S = 1200
# The interval of progress messages if the output is not a terminal.
TOLD_EVERY_S = 10.0
# Settings of the caller that would install packages to another place.
FOREIGN = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "PYTHONPATH")


class InstallError(Exception):
    """The environment could not be created; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stamp:
    """One finished installation: path, Python version, and lock."""

    place: str
    python: str
    lock: str
    lock_digest: str
    project_digest: str


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_of_the_project() -> str:
    """How the project is packed, and its version; a linter's changed setting is no reason to install anew."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hatch = settings["tool"]["hatch"]
    version = (ROOT / hatch["version"]["path"]).read_text(encoding="utf-8")
    packing = [settings["project"], settings["build-system"], hatch, version]
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
    """The stamp; None if the installation is unfinished or there is no stamp."""
    try:
        return Stamp(**json.loads((venv / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def is_current(venv: Path, python: str | None) -> bool:
    """True unless the environment was moved, or the lock or the Python version has changed."""
    found = stamp_of(venv)
    return (
        found is not None
        and (venv / "bin" / "python").exists()
        and found.lock in COVERS
        and found == wanted(venv, found.lock, python or found.python)
    )


def has_all_of(venv: Path, lock: str, python: str | None) -> bool:
    found = stamp_of(venv)
    return found is not None and is_current(venv, python) and lock in COVERS[found.lock]


class Progress:
    """Shows how many packages are installed, on a terminal in one line that is overwritten.

    If pip fails, the end of its output is shown.
    """

    def __init__(self, lock: str, packages: int) -> None:
        self._lock, self._packages = lock, packages
        self._live = sys.stdout.isatty()
        self._seen = 0
        self._last: deque[str] = deque(maxlen=20)
        self._said = time.monotonic()

    def line(self, line: str) -> None:
        """Processes one line of pip's output."""
        self._last.append(line)
        self._seen += line.startswith(("Collecting ", "Requirement already satisfied: "))
        now = time.monotonic()
        if now - self._said >= (0.1 if self._live else TOLD_EVERY_S):
            self._said = now
            text = (
                f"gateproof: {self._lock}.txt: {min(self._seen, self._packages)} of {self._packages} packages"
            )
            print(f"\r{text}" if self._live else text, end="" if self._live else "\n", flush=True)

    def end(self, *, failed: bool) -> None:
        if self._live:
            print("\r\033[K", end="", flush=True)
        if failed:
            print("".join(self._last), end="", file=sys.stderr, flush=True)


def run(*command: str | Path, on_line: Callable[[str], None] | None = None) -> None:
    """Runs a command; with `on_line`, its output goes there line by line."""
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    env |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=None if on_line is None else subprocess.PIPE,
            stderr=None if on_line is None else subprocess.STDOUT,
            text=True,
        )
    except OSError as error:
        raise InstallError(str(error)) from None
    begun = time.monotonic()
    limit = threading.Timer(PIP_LIMIT_S, process.kill)
    limit.start()
    with process:
        try:
            for line in process.stdout or ():
                if on_line is not None:
                    on_line(line)
            code = process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            limit.cancel()
    if time.monotonic() - begun > PIP_LIMIT_S:
        raise InstallError(f"the command took longer than {PIP_LIMIT_S} s and was ended")
    if code:
        raise InstallError(f"the command above ended with {code}")


def make_empty(venv: Path) -> None:
    """Creates an empty environment; deletes an existing one, but no other folder."""
    if venv.is_symlink():
        raise InstallError(f"{venv} is a link and out of date; delete it, or update what it leads to")
    if venv.exists():
        if not (venv / "pyvenv.cfg").exists() and not (venv / STAMP).exists() and any(venv.iterdir()):
            raise InstallError(f"{venv} exists and is not a virtual environment; move it away")
        shutil.rmtree(venv)
    venv.mkdir(parents=True)
    write_stamp(venv, "unfinished")
    # Not sys.executable, which may be in the environment that was just deleted.
    run(getattr(sys, "_base_executable", sys.executable), "-m", "venv", venv)


def write_stamp(venv: Path, text: str) -> None:
    fresh = venv / f"{STAMP}.new"
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(venv / STAMP)


def install(venv: Path, lock: str) -> None:
    """Installs only wheels of the lock: a build from source would download files without a digest."""
    python = venv / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--retries", "5")
    lock_file = ROOT / "requirements" / f"{lock}.txt"
    progress = Progress(
        lock, sum("==" in line for line in lock_file.read_text(encoding="utf-8").splitlines())
    )
    wheels_only = ("--require-hashes", "--no-deps", "--only-binary", ":all:")
    done = False
    try:
        run(*pip, "--progress-bar", "off", *wheels_only, "-r", lock_file, on_line=progress.line)
        done = True
    finally:
        progress.end(failed=not done)
    if lock in WITH_THE_PROJECT:
        run(*pip, "-qq", "--no-deps", "--no-build-isolation", "--editable", ROOT)


def version_of(venv: Path) -> str:
    asked = "import sys; print(*sys.version_info[:2], sep='.')"
    command = [str(venv / "bin" / "python"), "-c", asked]
    return subprocess.check_output(command, text=True, timeout=60).strip()


def ensure(venv: Path, lock: str, python: str | None) -> None:
    """Makes sure that the environment has all of a lock.

    `python` is the required version; None keeps the one of the environment. An environment without a stamp
    was not created by this script: packages are added, but it is never deleted.
    """
    if has_all_of(venv, lock, python):
        return
    with one_at_a_time(venv):
        if has_all_of(venv, lock, python):
            return
        not_ours = (venv / "bin" / "python").exists() and not (venv / STAMP).exists()
        if not not_ours and not is_current(venv, python):
            make_empty(venv)
        version = version_of(venv)
        print(f"gateproof: installing {lock}.txt into {venv.name} (Python {version})", flush=True)
        write_stamp(venv, "unfinished")
        begun = time.monotonic()
        install(venv, lock)
        print(f"gateproof: {venv.name} is ready after {time.monotonic() - begun:.0f} s", flush=True)
        write_stamp(venv, json.dumps(asdict(wanted(venv, lock, version)), indent=1))


@contextlib.contextmanager
def one_at_a_time(venv: Path) -> Iterator[None]:
    """Waits for another installation into the same environment; those into others may go on beside it."""
    # A lock of one byte of this file, at a place that follows from the name.
    place = zlib.crc32(str(venv).encode())
    with Path(__file__).open("r+b") as lock:
        for attempt in range(PIP_LIMIT_S):
            try:
                fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                break
            except (BlockingIOError, PermissionError):
                if attempt == 0:
                    print(f"gateproof: waiting for another installation into {venv.name} to end", flush=True)
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
        print("gateproof: interrupted; the next run starts the installation again", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
