"""The checks about a whole run, which run after all others."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from gateproof.conformance.checks import index, modules
from gateproof.conformance.kit.gateway.received import RunTotals, brought_up
from gateproof.conformance.run.context.base import Context
from gateproof.conformance.run.drive.judge import harness_error, judge
from gateproof.conformance.suite.check import Check, check_of
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.keyring import Keyring
from gateproof.reports.exchanges import Shown
from gateproof.reports.redaction import Redactor
from gateproof.reports.verdicts import CheckResult

Question = Callable[[RunTotals], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndOfRun:
    """The bench of these checks: they send nothing, and there are no secrets to redact."""

    context: Context

    def redactor(self) -> Redactor:
        return Keyring().redactor()

    def shown(self, redactor: Redactor, /, *, in_full: bool) -> tuple[Shown, ...]:  # noqa: ARG002
        return ()

    def place_of(self, _exchange: Exchange, /) -> int | None:
        return None

    def owns_steps(self) -> bool:
        return True

    def waited_s(self, **_: object) -> Mapping[str, float]:
        return {}

    def scenario(self) -> str:
        return ""


def has_end_of_run_checks(rules: Iterable[str], role: str) -> bool:
    """True if one of these rules has a check about the whole run."""
    found = index(role)
    return any(check.whole_run for rule in rules for check in found.get(rule, ()))


def conclude(
    context: Context, rules: Iterable[str], survey: RunTotals, chosen: frozenset[str] | None = None
) -> Iterable[CheckResult]:
    """The results of the checks about the whole run; errors if a part of the run was not searched."""
    role, place = context.target.role, EndOfRun(context=context)
    questions = _questions(role)
    asked = [check for rule in rules for check in index(role).get(rule, ()) if check.whole_run]
    for check in asked:
        check_id = check.ids()[0]
        if chosen is not None and check_id not in chosen:
            continue
        if survey.lost:
            yield harness_error(check_id, check, survey.lost)
        else:
            yield judge(check_id, check, _asking(questions[check.name], survey), place)


def _asking(question: Question, survey: RunTotals) -> Callable[[], None]:
    """The check as a function; it first clears the rules that a replay has to include."""

    def ask() -> None:
        brought_up(())
        question(survey)

    return ask


@cache
def _questions(role: str) -> Mapping[str, Question]:
    members = [member for name in modules(role) for member in vars(importlib.import_module(name)).values()]
    return {check.name: member for member in members if (check := _about_the_run(member)) is not None}


def _about_the_run(member: object) -> Check | None:
    check = check_of(member)
    return check if check is not None and check.whole_run else None
