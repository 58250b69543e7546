"""What rules and checks need of a target, and whether a target offers it."""

from __future__ import annotations

from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.rules import Rule, load, unmet

# These change the target for everybody, so a check that needs one of them runs alone.
WHOLE_TARGET = frozenset({"control:advance_clock", "control:rotate_keys", "control:logs"})


def first_missing(rule: Rule, check: Check, capabilities: frozenset[str]) -> str | None:
    """The first need of the rule, then of the check, that the capabilities do not meet."""
    missing = rule.unmet(capabilities) or unmet(tuple((need,) for need in check.needs), capabilities)
    return missing[0][0] if missing else None


def is_a_part(need: str, check: Check) -> bool:
    """True for a need whose absence leaves out this check, but not the whole of its rule."""
    optional = {alternative for group in load()[check.rule].optional_needs for alternative in group}
    return need in check.needs or need in optional


def touches_whole_target(check: Check) -> bool:
    """True for a check that may move the clock, rotate keys or read the log, or that asked to be alone."""
    groups = (*load()[check.rule].needs, check.needs)
    return check.alone or any(WHOLE_TARGET.intersection(group) for group in groups)
