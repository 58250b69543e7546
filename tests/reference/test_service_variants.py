"""The registry of a service's variants: each decides something, and none a rule that decides."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import pytest

from gateproof.conformance.suite.rules import load
from gateproof.reference.service.policies import Policies
from gateproof.reference.variants import __main__ as command
from gateproof.reference.variants.service import VARIANTS
from gateproof.reference.variants.variant import choices_of


def test_every_variant_decides_something_that_there_is_to_decide() -> None:
    known = {field.name for field in dataclasses.fields(Policies)}

    for variant in VARIANTS.values():
        assert variant.choices.keys() <= known
        assert replace(Policies(), **choices_of([variant])) != Policies(), variant.name


def test_a_variant_breaks_no_rule_that_decides() -> None:
    rules = load()

    assert {rules[rule].level for variant in VARIANTS.values() for rule in variant.rules} <= {"rfc"}


def test_two_that_decide_the_same_do_not_go_together() -> None:
    with pytest.raises(ValueError, match="challenges"):
        choices_of([VARIANTS["no-error-ever"], VARIANTS["pointer-last"]])


def test_the_list_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["service", "--list"]) == 0
    listed = json.loads(capsys.readouterr().out)

    assert [entry["name"] for entry in listed] == list(VARIANTS)
    assert all(entry["decides"] for entry in listed)


def test_an_unknown_variant_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["service", "no-such+thing"]) == 2
    assert capsys.readouterr().err == "reference variants: there is no variant no-such, thing\n"
