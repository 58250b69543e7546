"""The registry of a service's defects: a name for each, a rule for each, and one change away from honest."""

from __future__ import annotations

import dataclasses
import json

import pytest

from gateproof.conformance.checks import index
from gateproof.conformance.suite.rules import load
from gateproof.reference.defects import __main__ as command
from gateproof.reference.defects.service import DEFECTS
from gateproof.reference.service.policies import Policies


def test_every_judged_rule_that_is_checked_has_a_defect() -> None:
    broken = {defect.rules[0] for defect in DEFECTS.values()}
    checked = {rule.id for rule in load().for_role("service") if rule.level != "silent"} & set(
        index("service")
    )

    assert checked - broken == set()


def test_defects_name_known_rules_that_are_judged() -> None:
    known = {rule.id: rule.level for rule in load().for_role("service")}

    for defect in DEFECTS.values():
        assert len(set(defect.rules)) == len(defect.rules)
        assert all(known.get(rule, "silent") != "silent" for rule in defect.rules), defect.name


def test_a_defect_is_wrong_somewhere_and_honest_elsewhere() -> None:
    honest = Policies()

    for defect in DEFECTS.values():
        changed = [
            field.name
            for field in dataclasses.fields(Policies)
            if getattr(honest, field.name) != getattr(defect.policies, field.name)
        ]
        assert 1 <= len(changed) <= 3, defect.name


def test_the_list_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["service", "--list"]) == 0
    listed = json.loads(capsys.readouterr().out)

    assert [entry["name"] for entry in listed] == list(DEFECTS)
