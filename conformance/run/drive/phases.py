"""Runs the checks of one phase, in this process or in workers, and collects their results."""

from __future__ import annotations

import os
import pickle
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.checks import index, place
from gateproof.conformance.kit.gateway.received import RunTotals
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.drive import plugin, worker
from gateproof.conformance.run.drive.interruption import Interruption
from gateproof.conformance.run.drive.plan import Plan
from gateproof.conformance.run.drive.plugin import CONTEXT, INTERRUPTION, PLAN, SURVEY
from gateproof.conformance.run.service.worker_copy import share_of
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.needs import touches_whole_target
from gateproof.forks.here import forked
from gateproof.package import PYTHON_MODULE
from gateproof.reports.result_json import check_result_from_json
from gateproof.reports.verdicts import CheckResult, Reason, Verdict

# Plugins of pytest that a run does not need.
_WITHOUT = (
    "terminal",
    "cacheprovider",
    "logging",
    "warnings",
    "faulthandler",
    "junitxml",
    "pastebin",
    "unittest",
    "doctest",
    # These collect garbage five times at the end of a phase.
    "unraisableexception",
    "threadexception",
    # Their fixtures and hooks cost time in each phase, and a proof has a thousand phases.
    "capture",
    "debugging",
    "legacypath",
    "monkeypatch",
    "recwarn",
    "setuponly",
    "setupplan",
    "skipping",
    "stepwise",
    "subtests",
    "tmpdir",
)
# Gets each result, with the position of the target that it is about.
Sink = Callable[[CheckResult, int], None]


class PhaseFailed(Exception):
    """pytest itself failed."""


class _Controller:
    """Receives the results from this process or from workers, and gives workers their context.

    With one context for each worker, a worker that replaces a dead one gets its context.
    """

    def __init__(self, plan: Plan, contexts: Sequence[Context], sink: Sink) -> None:
        self._plan = plan
        self._contexts = contexts
        self._sink = sink
        self._places: dict[str, int] = {}
        self._unused = list(range(len(contexts)))
        self.lost: list[tuple[CheckResult, int]] = []
        self.fault = ""
        self.interrupted = False
        self.survey = RunTotals()
        self.interruption = Interruption()

    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[PLAN] = self._plan
        config.stash[CONTEXT] = self._contexts[0]
        config.stash[INTERRUPTION] = self.interruption

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        place = self._unused.pop(0) if len(self._contexts) > 1 else 0
        self._places[node.gateway.id] = place
        context = self._contexts[place]
        told = share_of(context) if isinstance(context, ServiceContext) else context
        node.workerinput["gateproof"] = pickle.dumps((self._plan, told))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        handed = getattr(node, "workeroutput", {}).get("gateproof_survey")
        lost = RunTotals(lost="a worker process died with answers that were not searched for secrets")
        self.survey.add(RunTotals.from_json(handed) if handed is not None else lost)
        place = self._places[node.gateway.id]
        # A worker in place of one that died has its target; one that has finished gets no other.
        if error is not None:
            self._unused.append(place)
        for found in getattr(node, "workeroutput", {}).get("gateproof_looked_back", ()):
            self._sink(check_result_from_json(found), place)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config) -> Any:
        """Lanes or ServiceScheduling, if each worker has its own target; otherwise xdist's own scheduler."""
        role = self._contexts[0].target.role
        if role == "service":
            from gateproof.conformance.run.service.sharing_out import ServiceScheduling  # noqa: PLC0415 - as below

            return ServiceScheduling(config, turn_of=lambda node_id: _check_of(node_id, role).turn)
        if len(self._contexts) == 1:
            return None
        from gateproof.conformance.run.drive.lanes import Lanes  # noqa: PLC0415 - imports xdist

        return Lanes(
            config,
            touches_whole_target=lambda node_id: touches_whole_target(_check_of(node_id, role)),
            place_of=lambda node: self._places[node.gateway.id],
        )

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Ends workers of a session that was interrupted while it started them.

        pytest does not finish such a session, and since Python 3.12 execnet cannot end them at the exit
        of the interpreter.
        """
        nodes = getattr(config.pluginmanager.get_plugin("dsession"), "nodemanager", None)
        if nodes is not None:
            nodes.teardown_nodes()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if (own := session.config.stash.get(SURVEY, None)) is not None:
            self.survey.add(own)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found, node = getattr(report, "gateproof", None), getattr(report, "node", None)
        place = self._places[node.gateway.id] if node is not None else 0
        if found is not None:
            self._sink(check_result_from_json(found), place)
        elif report.failed:
            # Not reported yet: a Ctrl-C may end the workers before this process gets the signal.
            self.lost.append((_lost(report.nodeid, self._contexts[0].target.role), place))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.fault = f"{Path(report.nodeid).name} could not be loaded"

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        # pytest uses a subclass of this exception to stop itself.
        self.interrupted = excinfo.type is KeyboardInterrupt

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        # xdist wraps the error of a worker. Only the first error is kept; later ones follow from it.
        of_worker = excinfo.traceback[-1].name == "worker_internal_error"
        said = "pytest broke in a worker" if of_worker else f"pytest broke: {excinfo.typename}"
        self.fault = self.fault or said
        return True


def run_phase(plan: Plan, contexts: Sequence[Context], sink: Sink, *, workers: int) -> RunTotals:
    """Runs the checks of one phase; every result goes to the sink at once.

    There is one context for all workers, or one for each.
    """
    role = contexts[0].target.role
    if not plan.modules(role):
        return RunTotals()
    checks = str(place(role))
    controller = _Controller(plan, contexts, sink)
    arguments = [
        *(
            "-c",
            os.devnull,
            "--rootdir",
            checks,
            "--confcutdir",
            checks,
            "--noconftest",
            "--assert=plain",
        ),
        *("-o", "python_functions=*"),
        *(part for name in _WITHOUT for part in ("-p", f"no:{name}")),
        *(["--maxfail=1"] if plan.fatal else []),
        *(_shared_out(workers) if workers > 1 else []),
        checks,
    ]
    # As an object: by its name, pytest would search all installed packages in each phase.
    plugins = [controller] if workers > 1 else [controller, plugin]
    # With workers there is no check in this process, and pytest can be interrupted anywhere.
    with _own_pytest(), nullcontext() if workers > 1 else controller.interruption.held_back():
        try:
            status = pytest.main(arguments, plugins=plugins)
        except Exception as broken:
            raise PhaseFailed(f"{type(broken).__name__} at the end of a phase") from broken
    if controller.interrupted or controller.interruption.asked:
        raise KeyboardInterrupt
    for result, where in controller.lost:
        sink(result, where)
    if controller.fault or status in {pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
        raise PhaseFailed(controller.fault or "pytest refused to run")
    return controller.survey


def _shared_out(workers: int) -> list[str]:
    """The options with which pytest distributes checks to workers; these load the plugin by name."""
    # -P: workers do not import modules from the current folder.
    alone = (os.path.normpath(sys.executable), "-P")
    fork = forked((*PYTHON_MODULE, worker.__name__))
    python = shlex.join(alone if fork[: len(PYTHON_MODULE)] == PYTHON_MODULE else fork)
    # Without a number, such workers would be restarted without limit.
    return [
        *("-p", plugin.__name__, "-p", "xdist.plugin", "--dist", "load"),
        *("--tx", f"{workers}*popen//python={python}", "--max-worker-restart", str(4 * workers)),
    ]


@contextmanager
def _own_pytest() -> Iterator[None]:
    """Runs pytest without plugins, options and configuration of the caller."""
    ours = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _lost(nodeid: str, role: str) -> CheckResult:
    """The result for a check whose worker died."""
    rule, item = _check_of(nodeid, role).rule, nodeid.rpartition("::")[2]
    return CheckResult(
        id=f"{rule}/{item}",
        rule=rule,
        verdict=Verdict.ERROR,
        reason=Reason.WORKER_LOST,
        message="the worker process died in this check",
    )


def _check_of(nodeid: str, role: str) -> Check:
    """The check that pytest collected under this ID."""
    place, _, item = nodeid.rpartition("::")
    return _checks(role)[Path(place).stem.partition("_")[0], item.partition("[")[0]]


@cache
def _checks(role: str) -> Mapping[tuple[str, str], Check]:
    """The checks of a role by family and name."""
    return {(check.family, check.name): check for found in index(role).values() for check in found}
