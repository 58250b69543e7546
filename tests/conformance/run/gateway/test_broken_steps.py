"""A gateway that breaks one step of the catalogue fails the step's rule, and no rule escapes because of it.

`make odd-targets` breaks each step with every rule selected.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from broken_steps import escaped, fails_by_its_end, steps_of

PROGRAM = str(Path(__file__).with_name("gateway_without_a_step.py"))
WHOLE = "GATEPROOF_WHOLE" in os.environ
LIFE = "life of the process"
STEPS = steps_of("gateway")
# For the quick tests: some rules that need the step.
SOME = {
    "authorization after an approval": ("AUTHZ-08", "CODE-01", "ROBUST-04"),
    "redemption after a rejected refresh": ("VAULT-0[1345]", "PROXY-01"),
}


@pytest.mark.parametrize("step", STEPS if WHOLE else SOME)
def test_no_rule_escapes_because_a_step_is_broken(
    step: str, launched_target: Callable[..., Path], judged: Callable[..., dict[str, Any]]
) -> None:
    file = launched_target(PROGRAM, step, secure=False, alone=step == LIFE)

    report = judged(file, *(() if WHOLE else SOME[step]), faults=WHOLE)

    verdicts = {rule["id"]: rule["verdict"] for rule in report["rules"]}
    assert (report["exit_code"], report["verdict"]) == (1, "not-conformant")
    if step == LIFE:
        assert fails_by_its_end(report)
        return
    assert verdicts[STEPS[step]] == "failed"
    assert escaped(report, step) == []
