"""One repetition of a stored failure, and its result."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gateproof.conformance.run.context.base import OnFailure
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.proof.scope import rules_of
from gateproof.conformance.targets.model import Target
from gateproof.reports.failed_steps import is_a_step

if TYPE_CHECKING:
    from gateproof.conformance.run.replay.stored_failure import Stored
    from gateproof.reports.verdicts import CheckResult, RunResult


def once(target: Target | Embedded, failure: Stored, *, held: OnFailure | None = None) -> RunResult:
    """Runs the check of the failure; `held` is called if it fails, before anything is stopped."""
    options = failure.options(held=held)
    with TemporaryDirectory(prefix="gateproof-replay-") as folder:
        return carry_out(
            target, rules_of(options.chosen, failure.role), options, lambda _: None, Path(folder)
        )


def result_of_check(result: RunResult, check_id: str) -> CheckResult | None:
    """The result of the check, or of a step that failed in it."""
    checks = [check for rule in result.rules for check in rule.checks]
    steps = [check for check in checks if is_a_step(check.id)]
    return next((check for check in (*steps, *checks) if check in steps or check.id == check_id), None)
