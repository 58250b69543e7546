"""The order in which the checks of a phase begin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gateproof.conformance.run.drive import plugin
from gateproof.conformance.run.drive.plan import Plan
from gateproof.conformance.suite.check import check

RULE = "DISC-01"


@check(RULE)
def brief() -> None: ...


@check(RULE)
def other() -> None: ...


@check(RULE, waits_s=2)
def slow() -> None: ...


@check(RULE, waits_s=4)
def slowest() -> None: ...


@check(RULE, alone=True, waits_s=5)
def slow_with_the_clock() -> None: ...


@check(RULE, alone=True)
def brief_with_the_clock() -> None: ...


def collected(*functions: Any, shuffle: bool = False) -> list[str]:
    """The names of these checks in the order in which they begin."""
    plan = Plan(rules=[RULE], serial=None, shuffle=shuffle)
    context = SimpleNamespace(target=SimpleNamespace(role="gateway"), seed=7)
    config: Any = SimpleNamespace(stash={plugin.PLAN: plan, plugin.CONTEXT: context})
    items: list[Any] = [SimpleNamespace(function=each, name=each.__name__) for each in functions]
    plugin.pytest_collection_modifyitems(config, items)
    return [item.name for item in items]


def test_longest_waits_begin_first_in_each_part() -> None:
    found = collected(brief, brief_with_the_clock, slow, slow_with_the_clock, slowest)
    assert found == ["slowest", "slow", "brief", "slow_with_the_clock", "brief_with_the_clock"]


def test_order_of_equal_waits_stays() -> None:
    assert collected(brief, slow, other, slowest) == ["slowest", "slow", "brief", "other"]
    assert collected(other, slow, brief, slowest) == ["slowest", "slow", "other", "brief"]


def test_shuffled_order_is_not_by_waits() -> None:
    assert collected(*[brief] * 20, slow, shuffle=True)[0] == "brief"
