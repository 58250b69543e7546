"""The pytest plugin of a run: collects the checks, provides their fixtures, and returns their results.

It is used in a run with one process and in every xdist worker. A worker gets the run's context over xdist's
own channel, so that no secret is in a file, an argument or an environment variable.
"""

from __future__ import annotations

import importlib
import pickle
import random
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from gateproof.conformance.checks import modules
from gateproof.conformance.faults.intercept.kept import Kept
from gateproof.conformance.kit.agent.agent import Agents
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.received import Received, RunTotals
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.service.received import ServiceReceived
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.run.agent.bench import AgentBench
from gateproof.conformance.run.bench import Bench, SendingBench
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.context.service import ServiceContext
from gateproof.conformance.run.drive.benches import open_bench
from gateproof.conformance.run.drive.end_of_run_checks import has_end_of_run_checks
from gateproof.conformance.run.drive.gc_tuning import collect_seldom
from gateproof.conformance.run.drive.interruption import Interruption
from gateproof.conformance.run.drive.judge import harness_error, judge
from gateproof.conformance.run.drive.plan import Plan
from gateproof.conformance.run.drive.spread_waits import waits_spread
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.run.service.bench import ServiceBench
from gateproof.conformance.run.service.choosing import Choosing
from gateproof.conformance.run.service.order import in_order
from gateproof.conformance.run.service.worker_copy import ServiceShare
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.check import Check, check_of
from gateproof.conformance.suite.generated_input import Draw, hypothesis_home
from gateproof.conformance.suite.needs import touches_whole_target
from gateproof.conformance.suite.races import Races, racers_for, rounds_for, wanted_for
from gateproof.conformance.targets.guardian import guardian
from gateproof.conformance.wire.tracing import trace_id_of
from gateproof.reports.result_json import check_result_to_json
from gateproof.reports.verdicts import CheckResult, Verdict

PLAN = pytest.StashKey[Plan]()
CONTEXT = pytest.StashKey[Context]()
SURVEY = pytest.StashKey[RunTotals]()
INTERRUPTION = pytest.StashKey[Interruption]()
_BENCH = pytest.StashKey[Bench]()
_FOUND = pytest.StashKey[CheckResult]()
# Checks in `reduced_examples` get one in so many examples.
_PART = 4
# The ID that xdist gives the first worker.
FIRST_WORKER = "gw0"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # This process may be killed before it removes the folder.
    guardian().add_folder(hypothesis_home())
    handed = getattr(config, "workerinput", None)
    if handed is not None:
        collect_seldom()
        # The data is from our own parent process.
        config.stash[PLAN], told = pickle.loads(handed["gateproof"])  # noqa: S301
        config.stash[INTERRUPTION] = interruption = Interruption()
        holding = ExitStack()
        holding.enter_context(interruption.held_back())
        config.add_cleanup(holding.close)
        if isinstance(told, ServiceShare):
            told = told.opened(holding, first=handed["workerid"] == FIRST_WORKER)
        config.stash[CONTEXT] = told


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Searches what this process received for secrets; a worker sends the result to its parent."""
    config = session.config
    looked_back = list(_results_of_final_checks(config))
    survey = config.stash[SURVEY] = _survey(config)
    bench = config.stash.get(_BENCH, None)
    if isinstance(bench, GatewayBench):
        survey.merchant_failed_at, survey.registrations = bench.merchant_failed_at(), bench.registrations()
        survey.misplaced, survey.control = bench.misplaced(), bench.costs.to_json()
    handed = getattr(config, "workeroutput", None)
    if handed is not None:
        handed["gateproof_survey"] = survey.to_json()
        handed["gateproof_looked_back"] = [check_result_to_json(found) for found in looked_back]
    # Last, because the parent does not wait long for a worker that has sent its output.
    if isinstance(bench, GatewayBench):
        bench.clean_up()


def _results_of_final_checks(config: pytest.Config) -> Iterator[CheckResult]:
    """The results of the checks with `looks_back`, which evaluate everything done to this worker's target."""
    bench, role = config.stash.get(_BENCH, None), config.stash[CONTEXT].target.role
    asked = config.stash[PLAN].looking_back(role)
    if not asked or not isinstance(bench, GatewayBench):
        return
    for name in modules(role):
        for function in vars(importlib.import_module(name)).values():
            check = check_of(function)
            if check is not None and not check.cases and check.ids()[0] in asked:
                bench.begin(check.ids()[0])
                found = judge(check.ids()[0], check, partial(function, world=bench.world), bench)
                yield _traced(found, bench)


def _survey(config: pytest.Config) -> RunTotals:
    if _BENCH not in config.stash or not _has_end_of_run_checks(config):
        return RunTotals()
    try:
        return config.stash[_BENCH].survey()
    except Exception as fault:  # noqa: BLE001 - the run has to know that the search failed
        return RunTotals(lost=f"{type(fault).__name__} while the answers were searched for secrets")


@pytest.hookimpl
def pytest_internalerror() -> bool:
    """Prints nothing, because the text of an exception may contain secrets."""
    return True


def _has_end_of_run_checks(config: pytest.Config) -> bool:
    return has_end_of_run_checks(config.stash[PLAN].rules, config.stash[CONTEXT].target.role)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _BENCH in config.stash:
        config.stash[_BENCH].close()


class _Planned(pytest.Directory):
    """The folder of a role's checks; collects only the modules of the plan."""

    def collect(self) -> Iterator[pytest.Module]:
        config = self.config
        for name in config.stash[PLAN].modules(config.stash[CONTEXT].target.role):
            yield pytest.Module.from_parent(self, path=self.path / f"{name.rpartition('.')[2]}.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector:
    return _Planned.from_parent(parent, path=path)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, obj: object) -> list[pytest.Item] | None:
    """Collects only checks of the plan that are defined in this module."""
    own = getattr(obj, "__module__", None) == collector.obj.__name__
    check = check_of(obj) if own else None
    return None if check is not None and collector.config.stash[PLAN].takes(check) else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps only the cases of the plan; checks that touch the whole target come last."""
    plan = config.stash[PLAN]
    items[:] = [item for item in items if plan.takes_case(_id(item))]
    if config.stash[CONTEXT].target.role == "service":
        items[:] = in_order(items, _check)
    if plan.shuffle:
        random.Random(config.stash[CONTEXT].seed).shuffle(items)  # noqa: S311 - an order, not a secret
        items.sort(key=lambda item: touches_whole_target(_check(item)))
    else:
        items[:] = waits_spread(items, _check)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Runs the checks of a service in one process in an order that depends on what has to be waited for.

    Otherwise pytest's own loop, or that of xdist, runs them in the order of the collection.
    """
    config = session.config
    context, plan = config.stash[CONTEXT], config.stash[PLAN]
    shared_out = hasattr(config, "workerinput") or config.pluginmanager.hasplugin("dsession")
    if not isinstance(context, ServiceContext) or shared_out or plan.shuffle or session.testsfailed:
        return None
    choosing = Choosing(session.items, _check, context.world.gateway)
    while (item := choosing.next()) is not None:
        config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    return True


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Bench:
    """The bench of this process, with an empty record for the check."""
    config = request.config
    if _BENCH not in config.stash:
        config.stash[_BENCH] = open_bench(config.stash[CONTEXT])
    opened = config.stash[_BENCH]
    opened.begin(_id(request.node))
    return opened


@pytest.fixture
def world(bench: GatewayBench | ServiceBench) -> World | ServiceWorld:
    """Projects, Resources, agents and users; for a service: gateway, merchant and attacker's host."""
    return bench.world


@pytest.fixture
def received(bench: GatewayBench | ServiceBench) -> Received | ServiceReceived:
    """Everything received so far, to search it for secrets."""
    return bench.received


@pytest.fixture
def draw(bench: Bench, request: pytest.FixtureRequest) -> Draw:
    """Generates input from the run's seed."""
    context = bench.context
    return Draw(
        seed=context.seed,
        examples=_budget(context, _id(request.node)),
        check=_id(request.node),
        campaign=_campaign(bench),
        replay=context.replay,
        shrinks=context.shows_exchanges,
    )


@pytest.fixture
def anew(bench: GatewayBench) -> Callable[[], World]:
    """Clears the check's record. For checks with many parts of which only the last one is reported."""
    return bench.anew


@pytest.fixture
def races(bench: GatewayBench | ServiceBench, request: pytest.FixtureRequest) -> Races:
    """The races of one check; their size depends on the number of examples."""
    context = bench.context
    examples = _budget(context, _id(request.node))
    return Races(
        check=_id(request.node),
        seed=context.seed,
        racers=racers_for(examples),
        rounds=rounds_for(examples),
        wanted=wanted_for(_check(request.node).rounds, examples),
        campaign=_campaign(bench),
        first=(context.replay or {}).get("first", 0),
    )


@pytest.fixture
def campaign(bench: Bench) -> Campaign | None:
    """The campaign, if the run is one: a check may then wait for hours."""
    return _campaign(bench)


def _campaign(bench: Bench) -> Campaign | None:
    """The campaign; it forgets the exchanges of a passed turn, because there are thousands of turns."""
    campaign = bench.context.campaign
    if campaign is None or not isinstance(bench, SendingBench):
        return campaign
    return replace(campaign, between=bench.forget)


@pytest.fixture
def intercept(bench: GatewayBench) -> Kept:
    """The intercepting proxy, for a check that needs it."""
    return bench.intercept


@pytest.fixture
def gateway(bench: GatewayBench) -> Gateway:
    """The gateway under test."""
    return bench.gateway


@pytest.fixture
def service(bench: ServiceBench) -> Service:
    """The service under test."""
    return bench.service


@pytest.fixture
def agents(bench: AgentBench) -> Agents:
    """The agent under test, with as many installs as a check needs."""
    return bench.agents


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Runs a check, and reports nothing but its result: that leaves two of six messages to the parent.

    The result is reported after the tear-down, so fixtures of checks must have none.
    """
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        # A phase that failed has a result as well, and is passed for pytest.
        if hasattr(report, "gateproof"):
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    """Runs a check through `judge`, which raises nothing but interruptions."""
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}  # noqa: SLF001
    stash = pyfuncitem.config.stash
    with stash[INTERRUPTION].let_through():
        bench = stash[_BENCH]
        found = judge(_id(pyfuncitem), _check(pyfuncitem), lambda: pyfuncitem.obj(**arguments), bench)
        found = _traced(found, bench)
        if bench.context.held is not None and (found.verdict is Verdict.FAILED or found.owner):
            bench.context.held(bench, found)
        pyfuncitem.stash[_FOUND] = (
            bench.screenshots.illustrated(found) if isinstance(bench, GatewayBench) else found
        )
    return True


def _traced(found: CheckResult, bench: Bench) -> CheckResult:
    """A failure with the trace of its requests, to look it up in the target's log."""
    if bench.tracing is None or not (found.verdict is Verdict.FAILED or found.owner):
        return found
    trace_id = trace_id_of(bench.context.run_id, found.id)
    observations = {**found.observations, "trace_id": trace_id}
    return replace(found, observations=observations, public=(*found.public, trace_id))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the result to pytest's report, and removes everything else that could contain secrets."""
    report = yield
    if report.when == "call" or report.failed:
        found = item.stash.get(_FOUND, None)
        if found is None or report.failed:
            kind = call.excinfo.typename if call.excinfo is not None else "an unknown fault"
            found = harness_error(_id(item), _check(item), f"{kind} in {report.when}")
        report.gateproof = check_result_to_json(found)  # type: ignore[attr-defined]
        fatal = found.rule in item.config.stash[PLAN].fatal
        report.outcome = "failed" if fatal and found.verdict == "failed" else "passed"
    report.longrepr = None
    report.sections.clear()
    return report


def _check(item: pytest.Item) -> Check:
    check = check_of(getattr(item, "function", None))
    if check is None:
        raise pytest.UsageError(f"{item.name} is not a check")
    return check


def _budget(context: Context, check_id: str) -> int:
    """The number of examples for one check."""
    return max(1, context.examples // _PART) if check_id in context.reduced_examples else context.examples


def _id(item: pytest.Item) -> str:
    return f"{_check(item).rule}/{item.name}"
