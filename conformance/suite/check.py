"""The decorator that makes a function a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

import pytest

from gateproof.conformance.suite.turn import Turn

Function = TypeVar("Function", bound=Callable[..., None])

_MARK = "gateproof_check"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """The rule that a check tests, and what the check needs beyond the needs of the rule.

    If a need of the check is missing, only this check is left out: other checks can still decide the rule. A
    check runs `alone` if it changes how shared users or Resources behave. A check with `whole_run` runs at
    the end and examines everything that the run received. A check that `looks_back` evaluates everything that
    was done to its target before. A check with races states how many `rounds` have to count at the
    usual budget of examples. A check that waits for seconds at any target states how long in `waits_s`: it
    does not begin among the last, which would leave one worker with it at the end.
    """

    rule: str
    name: str
    needs: tuple[str, ...]
    cases: tuple[str, ...]
    alone: bool = False
    whole_run: bool = False
    looks_back: bool = False
    rounds: int = 0
    turn: Turn = Turn.ANY
    waits_s: float = 0.0

    @property
    def family(self) -> str:
        """The family of the rule. The check's module has this name, or begins with it and an underscore."""
        return self.rule.partition("-")[0].lower()

    def ids(self) -> tuple[str, ...]:
        """The IDs of the check's results, one per case."""
        if not self.cases:
            return (f"{self.rule}/{self.name}",)
        return tuple(f"{self.rule}/{self.name}[{case}]" for case in self.cases)


def check(  # noqa: PLR0913 - what a check may state of itself, by name
    rule: str,
    *,
    needs: Sequence[str] = (),
    cases: Mapping[str, Any] | Sequence[str] = (),
    alone: bool = False,
    whole_run: bool = False,
    looks_back: bool = False,
    rounds: int = 0,
    turn: Turn = Turn.ANY,
    waits_s: float = 0.0,
) -> Callable[[Function], Function]:
    """Makes a function a check of one rule; with cases, it runs once per case, with the argument `case`."""

    def mark(function: Function) -> Function:
        values = list(cases.values()) if isinstance(cases, Mapping) else list(cases)
        setattr(
            function,
            _MARK,
            Check(
                rule=rule,
                name=function.__name__,
                needs=tuple(needs),
                cases=tuple(cases),
                alone=alone,
                whole_run=whole_run,
                looks_back=looks_back,
                rounds=rounds,
                turn=turn,
                waits_s=waits_s,
            ),
        )
        return pytest.mark.parametrize("case", values, ids=list(cases))(function) if cases else function

    return mark


def check_of(function: object) -> Check | None:
    """The check defined by a function, or None."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Check) else None


def checks_in(module: ModuleType) -> list[Check]:
    """The checks that a module defines, in order."""
    return [
        found
        for member in vars(module).values()
        if (found := check_of(member)) is not None and member.__module__ == module.__name__
    ]
