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


def test_waits_are_in_the_middle_or_first_of_the_whole_target() -> None:
    found = collected(brief, brief_with_the_clock, slow, slow_with_the_clock, slowest, other)
    assert found == ["brief", "slowest", "slow", "other", "slow_with_the_clock", "brief_with_the_clock"]


def test_order_of_equal_waits_stays() -> None:
    assert collected(brief, other, slow) == ["brief", "slow", "other"]
    assert collected(other, brief, slow) == ["other", "slow", "brief"]
    assert collected(brief_with_the_clock, brief) == ["brief", "brief_with_the_clock"]


def test_shuffled_order_is_not_by_waits() -> None:
    assert collected(slow, *[brief] * 40, shuffle=True)[20] == "brief"
    assert collected(slow_with_the_clock, brief, shuffle=True) == ["brief", "slow_with_the_clock"]
