"""Every defect and every variant of the agent makes a decision of its own, about a rule that it names."""

from __future__ import annotations

from dataclasses import fields

import pytest

from gateproof.conformance.suite import rules
from gateproof.reference.agent.policies import Policies
from gateproof.reference.defects.agent import DEFECTS, FAMILIES
from gateproof.reference.variants.agent import VARIANTS

HONEST = Policies()


def test_names_are_unique() -> None:
    assert len(DEFECTS) == sum(map(len, FAMILIES))


@pytest.mark.parametrize("name", list(DEFECTS))
def test_defect_changes_a_decision_and_names_known_rules(name: str) -> None:
    defect = DEFECTS[name]
    changed = [
        field.name
        for field in fields(Policies)
        if getattr(defect.policies, field.name) != getattr(HONEST, field.name)
    ]
    assert changed
    assert set(defect.rules) <= {rule.id for rule in rules.load().for_role("agent")}


def test_every_rule_has_a_defect() -> None:
    judged = {rule.id for rule in rules.load().for_role("agent") if rule.level != "silent"}
    assert judged == {defect.rules[0] for defect in DEFECTS.values()}


def test_variants_break_no_deciding_rule() -> None:
    assert all(rules.load()[rule].level == "rfc" for variant in VARIANTS.values() for rule in variant.rules)
