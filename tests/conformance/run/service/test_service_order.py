"""What the checks of a service wait for passes while others run, and no worker waits behind another wait."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from gateproof.conformance.checks import checks_by_module
from gateproof.conformance.run.service.order import in_order
from gateproof.conformance.run.service.sharing_out import ServiceScheduling
from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.needs import touches_whole_target
from gateproof.conformance.suite.turn import Turn

FIRST, END, KEY, ANY = Turn.FIRST_CALLS, Turn.END_OF_A_PROXY_TOKEN, Turn.NEW_KEY, Turn.ANY


def check(rule: str, turn: Turn, number: int = 0) -> Check:
    return Check(rule=rule, name=f"check_{number}", needs=(), cases=(), turn=turn)


def itself(check: Check) -> Check:
    return check


CHECKS = [
    check("BACK-06", FIRST),
    check("BACK-02", FIRST),
    check("BACK-03", END, 1),
    check("BACK-03", END, 2),
    *(check("BACK-06", KEY, number) for number in range(3)),
    *(check("BACK-01", ANY, number) for number in range(20)),
    *(check("CHAL-05", KEY, number) for number in range(3)),
    *(check("CHAL-01", ANY, number) for number in range(10)),
    *(check("META-01", ANY, number) for number in range(10)),
]


def turns(ordered: list[Check]) -> list[Turn]:
    return [check.turn for check in ordered]


def test_order_has_the_same_checks() -> None:
    ordered = in_order(CHECKS, itself)

    assert sorted(map(id, ordered)) == sorted(map(id, CHECKS))
    assert [check for check in ordered if check.turn is FIRST] == CHECKS[:2]
    assert [check for check in ordered if check.turn is END] == CHECKS[2:4]


def test_waits_for_new_keys_lie_apart() -> None:
    waits = [place for place, turn in enumerate(turns(in_order(CHECKS, itself))) if turn is KEY]
    assert all(after - before > 2 for before, after in pairwise(waits))


def test_workers_begin_the_longest_wait_at_once_and_end_with_short_checks() -> None:
    found = turns(in_order(CHECKS, itself))

    assert found[:4] == [END, END, FIRST, FIRST]
    assert set(found[-15:]) == {ANY}


def test_first_cases_of_all_checks_come_before_second_ones() -> None:
    """What a case of a check shows may spare a later one its wait."""
    one, two = check("BACK-06", KEY, 1), check("BACK-12", KEY, 2)

    ordered = in_order([(one, 1), (one, 2), (one, 3), (two, 1), (two, 2)], lambda item: item[0])

    assert ordered == [(one, 1), (two, 1), (one, 2), (two, 2), (one, 3)]


def test_first_calls_and_the_end_of_a_proxy_token_are_marked() -> None:
    """The modules say in their first lines that they depend on what was called before."""
    by_module = checks_by_module("service")
    for name, turn in (("back", FIRST), ("back_cache", END)):
        assert {check.turn for check in by_module[f"gateproof.conformance.checks.service.{name}"]} == {turn}


class Node:
    """A worker that does not begin until all of its queue is taken."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, places: list[int]) -> None:
        self.given += places

    def shutdown(self) -> None:
        self.shutting_down = True


class Config:
    """What the scheduler asks of pytest's configuration."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def getvalue(self, name: str) -> Any:
        return {"tx": [f"{self._nodes}*popen"]}[name]

    def getoption(self, name: str) -> Any:
        return {"maxschedchunk": None}[name]


Started = Callable[[int, list[Turn]], tuple[ServiceScheduling, list[Any]]]


def scheduling_of(number: int, collected: list[Turn]) -> tuple[ServiceScheduling, list[Any]]:
    """Workers that are not ready yet."""
    config: Any = Config(number)
    scheduling = ServiceScheduling(config, turn_of=lambda name: collected[int(name)])
    nodes: list[Any] = [Node(str(place)) for place in range(number)]
    for node in nodes:
        scheduling.add_node(node)
    return scheduling, nodes


def gets_ready(scheduling: ServiceScheduling, node: Any, collected: list[Turn]) -> None:
    """What xdist does when a worker has collected the checks."""
    scheduling.add_node_collection(node, [f"{place}" for place in range(len(collected))])
    if scheduling.collection_is_completed:
        scheduling.schedule()


@pytest.fixture
def started() -> Started:
    def start(number: int, collected: list[Turn]) -> tuple[ServiceScheduling, list[Any]]:
        scheduling, nodes = scheduling_of(number, collected)
        for node in nodes:
            gets_ready(scheduling, node, collected)
        return scheduling, nodes

    return start


def test_what_runs_in_a_row_goes_to_one_worker(started: Started) -> None:
    _, nodes = started(3, [END, END, FIRST, FIRST, FIRST, ANY, ANY, ANY, ANY, ANY])

    assert nodes[0].given == [0, 1]
    assert nodes[1].given == [2, 3, 4]


def test_first_worker_begins_while_others_start() -> None:
    collected = [END, END, FIRST, FIRST, KEY, ANY, ANY, ANY]
    scheduling, (one, two, three) = scheduling_of(3, collected)

    gets_ready(scheduling, two, collected)
    assert (one.given, two.given, three.given) == ([], [0, 1], [])
    gets_ready(scheduling, three, collected)
    assert (one.given, three.given) == ([], [2, 3])
    gets_ready(scheduling, one, collected)
    assert one.given == [4, 5]
    assert not any(node.shutting_down for node in (one, two, three))


def test_first_calls_wait_for_a_worker_that_has_called_nothing() -> None:
    collected = [END, FIRST, FIRST, ANY]
    scheduling, (one, two) = scheduling_of(2, collected)

    gets_ready(scheduling, one, collected)
    assert one.given == [0, 3]
    assert not scheduling.tests_finished
    gets_ready(scheduling, two, collected)
    assert two.given == [1, 2]


def test_first_calls_go_to_any_worker_if_all_have_begun() -> None:
    collected = [ANY, FIRST, ANY, ANY]
    scheduling, (one,) = scheduling_of(1, collected)

    gets_ready(scheduling, one, collected)
    assert one.given == [0, 1]


def test_worker_that_is_not_ready_is_given_nothing_when_another_one_dies() -> None:
    collected = [ANY, ANY, ANY]
    scheduling, (one, two) = scheduling_of(2, collected)
    gets_ready(scheduling, one, collected)

    scheduling.remove_node(one)

    assert two.given == []
    assert not two.shutting_down
    gets_ready(scheduling, two, collected)
    assert two.given == [1, 2]


def test_no_wait_stands_behind_another_one(started: Started) -> None:
    scheduling, (one, two) = started(2, [KEY, KEY, KEY, KEY, ANY, ANY, ANY, ANY])

    assert (one.given, two.given) == ([0, 4], [1, 5])
    scheduling.mark_test_complete(one, 0)
    assert one.given == [0, 4, 2]
    scheduling.mark_test_complete(one, 4)
    assert one.given == [0, 4, 2, 6]


def test_all_is_given_and_workers_are_told_that_nothing_more_comes(started: Started) -> None:
    collected = [FIRST, END, KEY, KEY, KEY, ANY, ANY]
    scheduling, nodes = started(2, collected)
    while any(scheduling.node2pending.values()):
        node = max(nodes, key=lambda node: len(scheduling.node2pending[node]))
        scheduling.mark_test_complete(node, scheduling.node2pending[node][0])

    assert sorted(place for node in nodes for place in node.given) == list(range(len(collected)))
    assert all(node.shutting_down for node in nodes)


def test_few_checks_go_to_the_workers_that_are_ready(started: Started) -> None:
    _, nodes = started(3, [ANY, ANY, ANY])

    assert [node.given for node in nodes] == [[0, 1], [2], []]
    assert all(node.shutting_down for node in nodes)


def test_what_a_worker_left_that_died_goes_to_the_one_in_its_place(started: Started) -> None:
    scheduling, (one, two) = started(2, [ANY, ANY, ANY, ANY])
    assert two.shutting_down

    assert scheduling.remove_node(one) == "0"
    new: Any = Node("new")
    scheduling.add_node(new)
    scheduling.add_node_collection(new, ["0", "1", "2", "3"])
    scheduling.schedule()

    # A worker that was told that nothing more comes would not run it.
    assert two.given == [2, 3]
    assert new.given == [1]
    assert new.shutting_down


def test_first_calls_of_a_worker_that_died_wait_for_the_one_in_its_place() -> None:
    collected = [END, END, FIRST, FIRST, FIRST]
    scheduling, (one, two) = scheduling_of(2, collected)
    for node in (one, two):
        gets_ready(scheduling, node, collected)
    assert two.given == [2, 3, 4]

    assert scheduling.remove_node(two) == "2"
    new: Any = Node("new")
    scheduling.add_node(new)
    gets_ready(scheduling, new, collected)

    assert one.given == [0, 1]
    assert new.given == [3, 4]


def test_worker_with_other_checks_is_an_error() -> None:
    scheduling, (one, two) = scheduling_of(2, [ANY, ANY])
    gets_ready(scheduling, one, [ANY, ANY])

    with pytest.raises(ValueError, match="different checks"):
        gets_ready(scheduling, two, [ANY])


def test_check_of_the_whole_target_has_no_turn() -> None:
    """Those come last, in the order of the collection; a turn would say something else."""
    found = [each for checks in checks_by_module("service").values() for each in checks]
    assert [each.name for each in found if each.turn is not Turn.ANY]
    assert not [each.name for each in found if each.turn is not Turn.ANY and touches_whole_target(each)]
