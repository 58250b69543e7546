"""Every check names a rule that exists, stands where it belongs, and says what is true when it passes."""

from __future__ import annotations

import importlib
from collections import Counter

import pytest

from gateproof.conformance.checks import index, modules, place
from gateproof.conformance.suite import rules
from gateproof.conformance.suite.check import Check, check_of, checks_in
from gateproof.conformance.suite.vocabulary import NEEDS, ROLES

ALL = [(role, check) for role in ROLES for checks in index(role).values() for check in checks]
IDS = [f"{check.rule}/{check.name}" for _, check in ALL]
FUNCTIONS = {
    check: member
    for role in ROLES
    for name in modules(role)
    for member in vars(importlib.import_module(name)).values()
    if (check := check_of(member)) is not None
}


@pytest.mark.parametrize(("role", "check"), ALL, ids=IDS)
def test_check_names_a_rule_of_its_role(role: str, check: Check) -> None:
    assert role in rules.load()[check.rule].roles


@pytest.mark.parametrize(("role", "check"), ALL, ids=IDS)
def test_check_needs_what_the_vocabulary_knows(role: str, check: Check) -> None:
    assert set(check.needs) <= set(NEEDS)


@pytest.mark.parametrize(("role", "check"), ALL, ids=IDS)
def test_check_says_its_truth_in_a_docstring(role: str, check: Check) -> None:
    assert (FUNCTIONS[check].__doc__ or "").strip().splitlines()[0].endswith(".")


def test_checks_stand_in_the_module_of_their_family() -> None:
    for role in ROLES:
        for name in modules(role):
            families = {check.family for check in checks_in(importlib.import_module(name))}
            assert families == {name.rpartition(".")[2].partition("_")[0]}


def test_no_two_results_share_an_identifier() -> None:
    counts = Counter(check_id for _, check in ALL for check_id in check.ids())
    assert [check_id for check_id, count in counts.items() if count > 1] == []


def test_index_finds_every_module_of_checks() -> None:
    there = {path.stem for path in place("gateway").glob("[!_]*.py")}
    assert there == {name.rpartition(".")[2] for name in modules("gateway")}
