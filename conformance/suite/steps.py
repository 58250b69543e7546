"""The steps that checks build on, and the rule that each step belongs to."""

from __future__ import annotations

from functools import cache

from gateproof.conformance.suite import rules


@cache
def owners() -> dict[str, str]:
    """The rule of each step, from the catalogue."""
    return {step: rule.id for rule in rules.load().values() for step in rule.steps}
