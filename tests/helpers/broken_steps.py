"""For tests of targets that break one step of the catalogue."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.suite import rules
from gateproof.conformance.suite.steps import owners

DECIDING = {"spec", "entailed"}


def steps_of(role: str) -> dict[str, str]:
    """The steps that targets of this role take, and the rule that owns each."""
    return {step: owner for step, owner in owners().items() if role in rules.load()[owner].roles}


def fails_by_its_end(report: dict[str, Any]) -> bool:
    """True if a rule failed because the target ended by itself: that of the check which ran then."""
    return any(
        rule["verdict"] == "failed" and "the target ended by itself" in check["message"]
        for rule in report["rules"]
        for check in rule["checks"]
    )


def escaped(report: dict[str, Any], step: str) -> list[tuple[str, str]]:
    """Deciding rules that were asked, neither passed nor failed, and name neither this step nor its rule.

    A check with a fault names the step alone: the fault may be why it failed.
    """
    return [
        (rule["id"], rule["reason"])
        for rule in report["rules"]
        if rule["level"] in DECIDING and rule["verdict"] not in {"passed", "failed", "not-applicable"}
        if rule["reason"] != "left out by --no-faults"
        if not any(
            "; this is a failure of " in check["message"] or step in check["message"]
            for check in rule["checks"]
        )
    ]
