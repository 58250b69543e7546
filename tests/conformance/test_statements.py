"""Every statement of the specification leads to a rule or says why not; every rule comes from a statement."""

from __future__ import annotations

from gateproof.conformance.checks import index
from gateproof.conformance.suite import rules, specification, statements
from gateproof.conformance.suite.proven import proven

EVERY = statements.load()


def test_statements_are_those_of_the_specification() -> None:
    assert EVERY.digest == specification.DIGEST


def test_statement_has_rules_or_says_why_not() -> None:
    known = set(rules.load())
    for each in EVERY.every:
        assert bool(each.rules) is not bool(each.why), each
        assert set(each.rules) <= known, each
        assert len(set(each.rules)) == len(each.rules), each


def test_rule_comes_from_a_statement() -> None:
    without = [rule_id for rule_id in rules.load() if not EVERY.of_rule(rule_id)]
    assert not without, f"{', '.join(without)}: add the rule to a statement of specification.toml"


def test_rule_has_checks_and_shipped_defects() -> None:
    for rule in rules.load().values():
        checked = [role for role in rule.roles if index(role).get(rule.id)]
        assert checked, rule.id
        if rule.level != "silent":
            shipped = any(proven(role).caught_by(rule.id) for role in rule.roles)
            assert shipped, f"{rule.id}: no defect ships; gateproof prove --new --quick --ship"
