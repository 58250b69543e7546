"""Variants that decide different things are tested together, each in one combination."""

from __future__ import annotations

import pytest

from gateproof.conformance.cli.prove import COMBINATIONS
from gateproof.conformance.run.proof.implementations import (
    MOST_IN_A_COMBINATION,
    Subject,
    combinations,
    subjects,
    with_combinations,
)
from gateproof.conformance.run.proof.scope import Effort, checks_for


def variant(number: int, decides: str = "") -> Subject:
    return Subject(
        kind="variant",
        name=f"variant-{number}",
        what="differs",
        rules=(),
        decides=frozenset([decides or f"part-{number}"]),
    )


def parts(drawn: list[Subject]) -> list[list[str]]:
    return [each.name.split("+") for each in drawn]


@pytest.mark.parametrize("role", ["gateway", "service", "agent"])
def test_each_variant_gets_all_checks_once(role: str) -> None:
    """Those in a combination get all checks there, the others alone."""
    every = with_combinations(subjects(role), COMBINATIONS[role], 1)
    whole = [each for each in every if checks_for(each, role, Effort.FULL, 1) is None]
    tested = [name for each in whole for name in each.name.split("+")]

    assert sorted(tested) == sorted(each.name for each in subjects(role) if each.kind == "variant")


@pytest.mark.parametrize("role", ["gateway", "agent"])
def test_most_variants_are_in_a_combination(role: str) -> None:
    every = with_combinations(subjects(role), COMBINATIONS[role], 1)
    variants = [each for each in every if each.kind == "variant" and not each.combined]

    assert sum(each.in_a_combination for each in variants) > 0.9 * len(variants)


def test_variants_of_one_combination_decide_different_things() -> None:
    drawn = combinations([variant(number, f"part-{number % 3}") for number in range(30)], 10, 1)

    assert len(drawn) == 10
    for names in parts(drawn):
        assert len({int(name.partition("-")[2]) % 3 for name in names}) == len(names)


def test_combination_has_no_more_than_six() -> None:
    drawn = combinations([variant(number) for number in range(40)], 3, 1)

    assert [len(names) for names in parts(drawn)] == [MOST_IN_A_COMBINATION] * 3


def test_servers_of_mcp_are_tested_alone() -> None:
    servers = [each for each in subjects("service") if each.kind == "variant" and each.operation == "mcp"]

    assert servers
    assert combinations(servers, 5, 1) == []


def test_further_variant_changes_few_combinations() -> None:
    before = {each.name for each in combinations([variant(number) for number in range(100)], 40, 1)}
    after = {each.name for each in combinations([variant(number) for number in range(101)], 40, 1)}

    assert 1 <= len(after - before) <= 3


def test_another_seed_makes_other_combinations() -> None:
    variants = [variant(number) for number in range(100)]

    assert combinations(variants, 40, 1) == combinations(variants, 40, 1)
    assert combinations(variants, 40, 1) != combinations(variants, 40, 2)


def test_without_combinations_every_variant_is_tested_alone() -> None:
    assert with_combinations([variant(1), variant(2)], 0, 1) == [variant(1), variant(2)]
