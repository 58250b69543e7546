"""What rules and checks need of a target, and whether the target offers it."""

from __future__ import annotations

from gateproof.conformance.suite.check import Check
from gateproof.conformance.suite.rules import Rule, load, unmet
from gateproof.conformance.suite.vocabulary import NEEDS

# These affect the whole target, so a check that needs one of them runs alone.
WHOLE_TARGET = frozenset({"control:advance_clock", "control:rotate_keys", "control:logs"})


def first_missing(rule: Rule, check: Check, capabilities: frozenset[str]) -> str | None:
    """The first need of the rule, or else of the check, that the capabilities do not meet."""
    missing = rule.unmet(capabilities) or unmet(tuple((need,) for need in check.needs), capabilities)
    return missing[0][0] if missing else None


def is_optional(need: str, check: Check) -> bool:
    """True if a missing need leaves out this check only: the rule itself does without.

    A need that is not in the catalogue, such as a Project with a Resource, belongs to every rule.
    """
    return need in NEEDS and not any(need in group for group in load()[check.rule].needs)


def touches_whole_target(check: Check) -> bool:
    """True if the check may move the clock, rotate keys or read the log, or is marked `alone`."""
    groups = (*load()[check.rule].needs, check.needs)
    return check.alone or any(WHOLE_TARGET.intersection(group) for group in groups)
