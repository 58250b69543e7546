"""Installs the intercepting proxy into an environment of its own, without a checkout."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gateproof.package import CHECKOUT

_LIMIT_S = 1200
_LINES_SHOWN = 12
_FINISHED = "gateproof-installed"
# Settings of the caller that would install packages to another place.
_FOREIGN = (
    "PIP_USER",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_REQUIRE_VIRTUALENV",
    "PYTHONHOME",
    "PYTHONPATH",
)


class InstallFailed(Exception):
    """The environment could not be made; the text says why."""


def own_environment(variables: Mapping[str, str] = os.environ) -> Path:
    """The folder of this version of the proxy for this Python, below the user's data folder."""
    data = variables.get("XDG_DATA_HOME") or Path(variables.get("HOME") or Path.home()) / ".local" / "share"
    digest = hashlib.sha256(_lock().read_bytes()).hexdigest()[:12]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Path(data) / "gateproof" / f"intercept-{version}-{digest}"


def is_finished(environment: Path) -> bool:
    """False for an installation that was interrupted."""
    return (environment / _FINISHED).is_file()


def install(tell: Callable[[str], None], variables: Mapping[str, str] = os.environ) -> Path:
    """The environment with the proxy; created if it is missing. Raises InstallFailed."""
    place = own_environment(variables)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with _alone(place.with_suffix(".lock")):
            if not is_finished(place):
                tell(f"installs the intercepting proxy into {place}")
                _make(place, variables)
    except OSError as problem:
        raise InstallFailed(f"{problem.filename}: {problem.strerror}") from problem
    return place


def _make(place: Path, variables: Mapping[str, str]) -> None:
    # pip treats a partly installed package as installed.
    shutil.rmtree(place, ignore_errors=True)
    environment = {name: value for name, value in variables.items() if name not in _FOREIGN}
    _carry_out([sys.executable, "-m", "venv", str(place)], environment)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    locked = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(_lock())]
    _carry_out([*pip, *locked], environment)
    (place / _FINISHED).touch()


def _carry_out(command: list[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command, env=dict(environment), capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise InstallFailed(f"{command[2]} did not end within {_LIMIT_S} s") from None
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-_LINES_SHOWN:])
        raise InstallFailed(f"{command[2]} failed:\n{last}")


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Allows one installation at a time."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _lock() -> Path:
    """The file with pinned versions: part of the wheel; in a checkout, beside the other lock files."""
    packed = Path(__file__).with_name("requirements.txt")
    return packed if packed.is_file() else CHECKOUT / "requirements" / "intercept.txt"
