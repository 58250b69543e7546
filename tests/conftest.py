"""What every test may rely on, however the tests were started, whatever is there and however busy it is."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import warm
from hypothesis import HealthCheck, settings

from gateproof.conformance.faults.intercept.finding import mitmdump
from gateproof.conformance.signin.chromium.finding import missing
from gateproof.conformance.suite.generated_input import load_hypothesis

# Who is started in the background of a script ignores Ctrl-C, and so would everything that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same inputs each time, so that a change is refused for what it changed. Whoever looks for more
# than these asks for the other profile: pytest --hypothesis-profile=seeking.
load_hypothesis()
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.register_profile("steady", PATIENT, derandomize=True)
settings.register_profile("seeking", PATIENT, derandomize=False, max_examples=2000)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parents[1]
BROWSER = ROOT / "tests" / "browser"
# Modules with tests that take more than half a minute. Each worker begins with its share of them.
LONG = (
    *("test_agent_proof", "test_bad_machine", "test_dead_services", "test_dead_targets", "test_differential"),
    *("test_half_services", "test_half_targets", "test_hostile_texts", "test_mcp_agents", "test_mutation"),
    *("test_names", "test_network_faults", "test_odd_agents", "test_odd_targets", "test_partial_control"),
    *("test_reference_world", "test_service_afterwards", "test_service_limits", "test_service_proof"),
    *("test_service_targets", "test_service_workers", "test_small_services"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Extra:
    """Something that a test may need and `make test` does not bring: if it is there, and how to get it."""

    there: Callable[[], bool]
    get: str


def _python_in(venv: str) -> Callable[[], bool]:
    return (ROOT / venv / "bin" / "python").exists


def _program(*names: str) -> Callable[[], bool]:
    return lambda: any(map(shutil.which, names))


def _mounts() -> bool:
    """True if a process here may have mounts of its own."""
    command = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", "/dev/shm"]  # noqa: S108
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except OSError:
        return False


def _packages(folder: str) -> Callable[[], bool]:
    return lambda: (ROOT / folder / "node_modules").is_dir() and shutil.which("node") is not None


def _a_browser() -> bool:
    """A whole Chromium and what looks at its pages; the shell without a window has none to be looked at."""
    libraries = all(map(importlib.util.find_spec, ("playwright", "axe_playwright_python")))
    return libraries and bool(os.environ.get("CHROMIUM") or _program("chromium", "chromium-browser")())


_A_CHROMIUM = "where that cannot install Chromium, apt-get install chromium, or set CHROMIUM=/path/to/it"

# `make extras` installs all of these but what only the system has.
EXTRAS: Mapping[str, Extra] = {
    "intercept": Extra(there=lambda: mitmdump() is not None, get="make intercept"),
    "readers": Extra(there=_python_in(".venv-readers"), get="make readers"),
    "npm-readers": Extra(there=_packages(".venv-readers/npm"), get="install npm, then make readers"),
    "mcp-sdk": Extra(there=_python_in(".venv-mcp-sdk"), get="make extras"),
    "mcp-typescript": Extra(there=_packages("tests/interop/mcp_agents"), get="install npm, then make extras"),
    "fastapi": Extra(there=_python_in(".venv-fastapi"), get="make extras"),
    "mutants": Extra(there=_python_in(".venv-mutants"), get="make extras"),
    "browser": Extra(there=_a_browser, get=f"make extras; {_A_CHROMIUM}"),
    "chromium": Extra(there=lambda: not missing(), get=f"make extras; {_A_CHROMIUM}"),
    "node": Extra(there=_program("node"), get="install Node"),
    "java": Extra(there=_program("java"), get="install Java"),
    "curl": Extra(there=_program("curl"), get="install curl"),
    "jq": Extra(there=_program("jq"), get="install jq"),
    "cc": Extra(there=_program("cc"), get="install a C compiler"),
    "mounts": Extra(there=cache(_mounts), get="run as a user who may have mount namespaces"),
    "openssl": Extra(there=_program("openssl"), get="install OpenSSL"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--skipped-before",
        action="store_true",
        help="only the tests that the last whole run skipped for want of an extra",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "attack: hostile parties, files and moments; make attack has more")
    config.addinivalue_line("markers", "needs(name): needs one of the extras, and is skipped without it")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Which extras are there decides whether a test is skipped, and nothing else."""
    for mark in item.iter_markers("needs"):
        (name,) = mark.args
        if not EXTRAS[name].there():
            pytest.skip(f"needs {name}: {EXTRAS[name].get}")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests in a browser run by themselves, where they are asked for.

    Playwright's event loop counts as running in its process for ever after, and no other can be run there.
    """
    left_out = collection_path == BROWSER and not _is_of_browsers(config)
    return True if left_out or _nothing_skipped_in(collection_path, config) else None


def _nothing_skipped_in(path: Path, config: pytest.Config) -> bool:
    """True for a module that need not be read, because no test of it was skipped before."""
    if not config.getoption("skipped_before") or _asked_for(config) not in ([], [BROWSER]) or path.is_dir():
        return False
    return path not in {config.rootpath / test.partition("::")[0] for test in _skipped_before(config)}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("skipped_before"):
        before = _skipped_before(config)
        left_out = [item for item in items if item.nodeid not in before]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.nodeid in before]
    items[:] = _long_ones_spread(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _long_ones_spread(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The tests in an order in which each worker's share, which is one part of it, begins with long ones."""
    long = [item for item in items if item.path.stem in LONG]
    short = [item for item in items if item.path.stem not in LONG]
    size = -(-len(items) // workers)
    spread: list[pytest.Item] = []
    for worker in range(workers):
        own = long[worker::workers]
        place = max(0, size - len(own))
        spread += [*own, *short[:place]]
        short = short[place:]
    return [*spread, *short]


def _asked_for(config: pytest.Config) -> list[Path]:
    """The files and folders that a run was asked for; none where it runs all tests but those in a browser."""
    here = config.invocation_params.dir
    return [Path(here, each.partition("::")[0]).resolve() for each in config.getoption("file_or_dir")]


def _named(config: pytest.Config) -> list[str]:
    """The arguments by which a run of all tests finds them."""
    again = ["--skipped-before"] if config.getoption("skipped_before") else []
    return [*again, *config.getoption("file_or_dir")]


def _is_of_browsers(config: pytest.Config) -> bool:
    """True for a run that was asked for tests in a browser."""
    return any(place.is_relative_to(BROWSER) for place in _asked_for(config))


def _is_full(config: pytest.Config) -> bool:
    """True for a run of all tests, or of all in a browser."""
    return _asked_for(config) in ([], [BROWSER]) and not any(config.getoption(name) for name in _PARTIAL)


def _skipped_by(config: pytest.Config) -> str:
    """Where is kept what the last full run of these tests skipped."""
    return f"gateproof/skipped{'-in-a-browser' if _is_of_browsers(config) else ''}"


def _skipped_before(config: pytest.Config) -> set[str]:
    return set(_cache(config).get(_skipped_by(config), []))


def _cache(config: pytest.Config) -> pytest.Cache:
    assert config.cache is not None
    return config.cache


# What makes a run one of some tests only.
_PARTIAL = ("keyword", "markexpr", "lf", "maxfail", "deselect", "ignore", "ignore_glob")


class _Skipped:
    """Keeps which tests were skipped for want of an extra, for who has got it by then."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._found: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and any(f"needs {name}: " in str(report.longrepr) for name in EXTRAS):
            self._found.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        again = self._config.getoption("skipped_before")
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and (again or _is_of_browsers(self._config)):
            # Nothing was left to be run, or nothing of it needs a browser.
            session.exitstatus = pytest.ExitCode.OK
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if ended and not again and _is_full(self._config):
            _cache(self._config).set(_skipped_by(self._config), self._found)


def pytest_sessionstart(session: pytest.Session) -> None:
    # What xdist's workers skip, they report to the process that started them.
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Skipped(session.config))
        # Who only collects starts no process.
        if warm.IS_OWN and not session.config.option.collectonly:
            session.config.add_cleanup(warm.start())
            if _is_full(session.config) and session.config.getoption("dist") != "no":
                session.config.add_cleanup(warm.start_for_tests(*_named(session.config)))
