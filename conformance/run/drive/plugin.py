"""pytest's side of a run: which checks run, what they are given, and how their results come back.

The same module serves a run in one process and every xdist worker. A worker is given the run's context over
xdist's own channel, so that no secret stands in a file, an argument or an environment variable.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateproof.conformance.faults.intercept.kept import Kept
from gateproof.conformance.kit.agent.agent import Agents
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.received import Received, Survey
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.service.received import ServiceReceived
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.run.agent.bench import AgentBench
from gateproof.conformance.run.bench import Bench, SendingBench
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.drive.benches import open_bench
from gateproof.conformance.run.drive.end_of_run_checks import asks_afterwards
from gateproof.conformance.run.drive.gc_tuning import collect_seldom
from gateproof.conformance.run.drive.interruption import Interruption
from gateproof.conformance.run.drive.judge import harness_error, judge
from gateproof.conformance.run.drive.plan import Plan
from gateproof.conformance.run.gateway.bench import GatewayBench
from gateproof.conformance.run.service.bench import ServiceBench
from gateproof.conformance.run.service.worker_copy import ServiceShare
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.check import Check, check_of
from gateproof.conformance.suite.generated_input import Draw
from gateproof.conformance.suite.races import Races, racers_for, rounds_for, wanted_for
from gateproof.reports.verdicts import CheckResult
from gateproof.reports.wireform import check_result_to_dict

PLAN = pytest.StashKey[Plan]()
CONTEXT = pytest.StashKey[Context]()
SURVEY = pytest.StashKey[Survey]()
INTERRUPTION = pytest.StashKey[Interruption]()
_BENCH = pytest.StashKey[Bench]()
_FOUND = pytest.StashKey[CheckResult]()
# In passing, this part of the examples has to do.
_PART = 4


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    handed = getattr(config, "workerinput", None)
    if handed is not None:
        collect_seldom()
        # From our own parent.
        config.stash[PLAN], told = pickle.loads(handed["gateproof"])  # noqa: S301
        config.stash[INTERRUPTION] = interruption = Interruption()
        holding = ExitStack()
        holding.enter_context(interruption.held_back())
        config.add_cleanup(holding.close)
        config.stash[CONTEXT] = told.opened(holding) if isinstance(told, ServiceShare) else told


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """What this process received is searched for secrets; a worker hands on what came of it."""
    config = session.config
    survey = config.stash[SURVEY] = _survey(config)
    bench = config.stash.get(_BENCH, None)
    if isinstance(bench, GatewayBench):
        survey.troubled_at = bench.troubled_at()
    handed = getattr(config, "workeroutput", None)
    if handed is not None:
        handed["gateproof_survey"] = survey.to_json()
    # A worker that has said that it is done is not waited for much longer.
    if isinstance(bench, GatewayBench):
        bench.clean_up()


def _survey(config: pytest.Config) -> Survey:
    if _BENCH not in config.stash or not _asks_afterwards(config):
        return Survey()
    try:
        return config.stash[_BENCH].survey()
    except Exception as fault:  # noqa: BLE001 - whoever breaks here, the run has to know that nobody searched
        return Survey(lost=f"{type(fault).__name__} while the answers were searched for secrets")


@pytest.hookimpl
def pytest_internalerror() -> bool:
    """A worker that breaks prints nothing: in an exception's text there may be anything."""
    return True


def _asks_afterwards(config: pytest.Config) -> bool:
    return asks_afterwards(config.stash[PLAN].rules, config.stash[CONTEXT].target.role)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _BENCH in config.stash:
        config.stash[_BENCH].close()


class _Planned(pytest.Directory):
    """The folder of a role's checks, of which only what the plan takes is opened."""

    def collect(self) -> Iterator[pytest.Module]:
        config = self.config
        for name in config.stash[PLAN].modules(config.stash[CONTEXT].target.role):
            yield pytest.Module.from_parent(self, path=self.path / f"{name.rpartition('.')[2]}.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector:
    return _Planned.from_parent(parent, path=path)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, obj: object) -> list[pytest.Item] | None:
    """Collects the checks of the plan and nothing else: what a module imports is not its own."""
    own = getattr(obj, "__module__", None) == collector.obj.__name__
    check = check_of(obj) if own else None
    return None if check is not None and collector.config.stash[PLAN].takes(check) else []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the cases of the plan."""
    plan = config.stash[PLAN]
    items[:] = [item for item in items if plan.takes_case(_id(item))]
    if plan.shuffle:
        random.Random(config.stash[CONTEXT].seed).shuffle(items)  # noqa: S311 - an order, not a secret


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Bench:
    """The worker's connections, with a fresh record for one check."""
    config = request.config
    if _BENCH not in config.stash:
        config.stash[_BENCH] = open_bench(config.stash[CONTEXT])
    opened = config.stash[_BENCH]
    opened.begin(_id(request.node))
    return opened


@pytest.fixture
def world(bench: GatewayBench | ServiceBench) -> World | ServiceWorld:
    """Projects, Resources, agents and users for one check; around a service, gateway, merchant and thief."""
    return bench.world


@pytest.fixture
def received(bench: GatewayBench | ServiceBench) -> Received | ServiceReceived:
    """What was received so far, to be searched for secrets."""
    return bench.received


@pytest.fixture
def draw(bench: Bench, request: pytest.FixtureRequest) -> Draw:
    """Draws input from the run's seed."""
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
    """Begins the check's record anew, for a check of which one part in many is worth keeping."""
    return bench.anew


@pytest.fixture
def races(bench: GatewayBench | ServiceBench, request: pytest.FixtureRequest) -> Races:
    """The races of one check, as large as the budget of examples lets them be."""
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


def _campaign(bench: Bench) -> Campaign | None:
    """The campaign, in which what a turn sent is of no use once it has held: a campaign takes thousands."""
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
    """The agent under test, as many installs of it as a check wants."""
    return bench.agents


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    """Runs a check under the judge, from whom nothing but an interruption comes back as an exception."""
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}  # noqa: SLF001
    stash = pyfuncitem.config.stash
    with stash[INTERRUPTION].let_through():
        bench = stash[_BENCH]
        found = judge(_id(pyfuncitem), _check(pyfuncitem), lambda: pyfuncitem.obj(**arguments), bench)
        pyfuncitem.stash[_FOUND] = (
            bench.album.illustrated(found) if isinstance(bench, GatewayBench) else found
        )
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Lets a result travel with pytest's report, and strips the report of everything else that could leak."""
    report = yield
    if report.when == "call" or report.failed:
        found = item.stash.get(_FOUND, None)
        if found is None or report.failed:
            kind = call.excinfo.typename if call.excinfo is not None else "an unknown fault"
            found = harness_error(_id(item), _check(item), f"{kind} in {report.when}")
        report.gateproof = check_result_to_dict(found)  # type: ignore[attr-defined]
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
    """How many examples one check may generate."""
    return max(1, context.examples // _PART) if check_id in context.in_passing else context.examples


def _id(item: pytest.Item) -> str:
    return f"{_check(item).rule}/{item.name}"
