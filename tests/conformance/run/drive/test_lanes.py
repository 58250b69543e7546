"""Which worker gets which check, if each worker has its own target."""

from __future__ import annotations

from itertools import chain
from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.run.drive.lanes import Lanes

OTHERS = [f"other-{number}" for number in range(20)]
OF_WHOLE_TARGET = [f"whole-{number}" for number in range(6)]


class Worker:
    """A worker of xdist, without a process."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.got: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.got += indices

    def shutdown(self) -> None:
        self.shutting_down = True


class Config:
    """What xdist asks of pytest's configuration."""

    def __init__(self, workers: int) -> None:
        self._tx = ["popen"] * workers
        self.refused: list[pytest.CollectReport] = []
        self.hook = SimpleNamespace(pytest_collectreport=self._refuse)

    def _refuse(self, report: pytest.CollectReport) -> None:
        self.refused.append(report)

    def getvalue(self, name: str) -> list[str]:
        assert name == "tx"
        return self._tx

    def getoption(self, name: str) -> None:
        assert name == "maxschedchunk"


class Run:
    """A run of some workers, up to the first checks of each."""

    def __init__(
        self, workers: int, checks: list[str], *, collected_by_the_last: list[str] | None = None
    ) -> None:
        self.checks = checks
        self.workers: list[Any] = [Worker(f"gw{place}") for place in range(workers)]
        self.config: Any = Config(workers)
        self.lanes = Lanes(
            self.config,
            touches_whole_target=lambda item: item.startswith("whole"),
            place_of=lambda worker: int(worker.gateway.id[2:]),
        )
        for worker in self.workers:
            self.lanes.add_node(worker)
            last = worker is self.workers[-1]
            self.lanes.add_node_collection(worker, (last and collected_by_the_last) or checks)
        self.lanes.schedule()
        self.done: dict[str, list[str]] = {worker.gateway.id: [] for worker in self.workers}

    def finish_one(self, worker: Any) -> bool:
        """The worker finishes its next check, if it may begin it."""
        pending = self.lanes.node2pending[worker]
        if len(pending) < 2 and not (pending and worker.shutting_down):
            return False
        self.done[worker.gateway.id].append(self.checks[pending[0]])
        self.lanes.mark_test_complete(worker, pending[0])
        return True

    def finish(self) -> None:
        while sum(self.finish_one(worker) for worker in self.workers if worker in self.lanes.nodes):
            pass


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 8])
@pytest.mark.parametrize(
    ("others", "of_whole_target"), [(0, 6), (1, 6), (3, 1), (20, 0), (20, 6), (1, 0), (0, 1)]
)
def test_every_check_runs_once_and_nobody_goes_back(workers: int, others: int, of_whole_target: int) -> None:
    run = Run(workers, OTHERS[:others] + OF_WHOLE_TARGET[:of_whole_target])
    run.finish()
    assert sorted(chain.from_iterable(run.done.values())) == sorted(run.checks)
    assert run.lanes.tests_finished
    assert not run.lanes.has_pending
    assert all(worker.shutting_down for worker in run.workers)
    for done in run.done.values():
        assert [item.startswith("whole") for item in done] == sorted(
            item.startswith("whole") for item in done
        )


def test_workers_begin_with_their_kind() -> None:
    run = Run(2, OTHERS + OF_WHOLE_TARGET)
    waiting, other = ([run.checks[index] for index in worker.got] for worker in run.workers)
    assert waiting == OF_WHOLE_TARGET[:2]
    assert other == OTHERS[:8]


@pytest.mark.parametrize(
    ("others", "of_whole_target", "waiting"), [(20, 0, 0), (20, 1, 1), (20, 4, 2), (20, 6, 2), (0, 6, 4)]
)
def test_more_workers_begin_with_them_if_there_are_more(
    others: int, of_whole_target: int, waiting: int
) -> None:
    run = Run(4, OTHERS[:others] + OF_WHOLE_TARGET[:of_whole_target])
    assert sum(run.checks[worker.got[0]].startswith("whole") for worker in run.workers) == waiting


def test_others_help_with_the_checks_of_the_whole_target() -> None:
    run = Run(2, OTHERS[:10] + OF_WHOLE_TARGET[:4])
    while run.finish_one(run.workers[1]):
        pass
    assert run.done["gw1"] == [*OTHERS[:10], *OF_WHOLE_TARGET[2:4]]


def test_one_long_check_keeps_no_more_than_one_other_waiting() -> None:
    run = Run(2, OF_WHOLE_TARGET)
    while run.finish_one(run.workers[1]):
        pass
    assert len(run.done["gw1"]) == len(OF_WHOLE_TARGET) - 2


def test_checks_of_a_worker_that_died_go_to_another() -> None:
    run = Run(3, OTHERS + OF_WHOLE_TARGET[:3])
    died = run.workers[2]
    lost = run.lanes.remove_node(died)
    run.finish()
    done = run.done["gw0"] + run.done["gw1"]
    assert sorted([*done, lost]) == sorted(run.checks)


def test_worker_that_moved_on_takes_nothing_of_one_that_died() -> None:
    run = Run(4, OTHERS + OF_WHOLE_TARGET)
    one, other = run.workers[2:]
    while run.finish_one(one):
        pass
    assert run.done["gw2"][-1].startswith("whole")
    lost = run.lanes.remove_node(other)
    assert lost is not None
    left = set(OTHERS) - set(run.done["gw2"]) - {lost}
    assert left
    run.finish()
    assert not left & {item for done in run.done.values() for item in done}
    new: Any = Worker("gw3")
    run.workers.append(new)
    run.lanes.add_node(new)
    run.lanes.add_node_collection(new, run.checks)
    run.lanes.schedule()
    run.finish()
    assert left <= set(run.done["gw3"])


def test_worker_in_place_of_the_only_one_does_the_rest() -> None:
    run = Run(1, OTHERS)
    assert run.lanes.remove_node(run.workers[0]) == OTHERS[0]
    new: Any = Worker("gw0")
    run.workers.append(new)
    run.lanes.add_node(new)
    run.lanes.add_node_collection(new, run.checks)
    run.lanes.schedule()
    run.finish()
    assert run.done["gw0"] == OTHERS[1:]


def test_workers_that_collected_different_checks_get_none() -> None:
    run = Run(2, OTHERS, collected_by_the_last=OTHERS[1:])
    assert [worker.got for worker in run.workers] == [[], []]
    assert len(run.config.refused) == 1
