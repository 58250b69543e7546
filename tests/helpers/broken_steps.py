"""For tests of targets that break one step of the catalogue."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.suite import rules
from gateproof.conformance.suite.steps import owners

DECIDING = {"spec", "entailed"}


def steps_of(role: str) -> dict[str, str]:
    """The steps that targets of this role take, and the rule that owns each."""
    return {step: owner for step, owner in owners().items() if role in rules.load()[owner].roles}


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
