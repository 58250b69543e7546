"""The registry of defects: complete, honest about its rules, and each of them one change away."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from gateproof.conformance.suite.rules import load
from gateproof.reference.defects import __main__ as command
from gateproof.reference.defects.gateway import DEFECTS
from gateproof.reference.gateway.policies import Policies

WANTED = {
    "DISC": range(1, 7),
    "CLAIM": range(1, 13),
    "CODE": (*range(1, 10), 11, 12, 14, 15),
    "PROXY": (1, 2),
    "REDEEM": range(1, 6),
    "KEYS": range(1, 7),
    "REG": (*range(1, 7), 8, 9, 10, 12, 13, 14),
    "AUTHZ": (*range(1, 13), *range(14, 20)),
}


def test_every_rule_of_the_first_families_has_a_defect() -> None:
    broken = {defect.rules[0] for defect in DEFECTS.values()}

    assert {f"{family}-{number:02}" for family, numbers in WANTED.items() for number in numbers} <= broken


def test_defects_name_known_rules_that_are_judged() -> None:
    rules = load()

    for defect in DEFECTS.values():
        assert len(set(defect.rules)) == len(defect.rules)
        assert all(rules[rule].level != "silent" for rule in defect.rules), defect.name


def test_a_defect_is_wrong_somewhere_and_honest_elsewhere() -> None:
    honest = Policies()

    for defect in DEFECTS.values():
        changed = [
            field.name
            for field in dataclasses.fields(Policies)
            if getattr(honest, field.name) != getattr(defect.policies, field.name)
        ]
        # One decision may be written down in several places; more than these would be several decisions.
        assert 1 <= len(changed) <= 6, defect.name


def test_a_wrong_gateway_is_wrong(make_party: Any) -> None:
    party = make_party(DEFECTS["proxy-token-of-any-project"].policies)
    home, abroad = party.place(), party.place()
    token = party.tokens(home)["access_token"]

    assert party.redeem(token, party.proxy_token(abroad), home.indicator).status_code == 200


def test_the_list_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["gateway", "--list"]) == 0
    listed = json.loads(capsys.readouterr().out)

    assert [entry["name"] for entry in listed] == list(DEFECTS)
    assert all(set(entry) == {"name", "what", "rules", "operation"} for entry in listed)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "usage:"),
        (["nobody", "--list"], "usage:"),
        (["gateway", "issuer-per-resources"], "did you mean issuer-per-resource?"),
        (["service", "issuer-unred"], "did you mean issuer-unread?"),
    ],
)
def test_wrong_usage_is_one_line(capsys: pytest.CaptureFixture[str], argv: list[str], said: str) -> None:
    assert command.main(argv) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
