"""What makes a function a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

import pytest

Function = TypeVar("Function", bound=Callable[..., None])

_MARK = "gateproof_check"


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """The rule that a check tests, and what it needs beyond what the rule itself needs.

    A need named here leaves out this check alone: the rule can still pass on its other checks. A check that
    changes how others' users or Resources behave, on a target whose few are shared by all, runs `alone`. A
    check about the `whole_run` is asked once it is over, and given what was received in it. A check that runs
    races says how many `rounds` have to count, for the usual budget of examples.
    """

    rule: str
    name: str
    needs: tuple[str, ...]
    cases: tuple[str, ...]
    alone: bool = False
    whole_run: bool = False
    rounds: int = 0

    @property
    def family(self) -> str:
        """The module in which the check stands is named like this, or begins with it and an underscore."""
        return self.rule.partition("-")[0].lower()

    def ids(self) -> tuple[str, ...]:
        """The identifiers under which the check's results are reported, one a case."""
        if not self.cases:
            return (f"{self.rule}/{self.name}",)
        return tuple(f"{self.rule}/{self.name}[{case}]" for case in self.cases)


def check(
    rule: str,
    *,
    needs: Sequence[str] = (),
    cases: Mapping[str, Any] | Sequence[str] = (),
    alone: bool = False,
    whole_run: bool = False,
    rounds: int = 0,
) -> Callable[[Function], Function]:
    """Makes a function a check of one rule; with cases, it runs once for each, as the argument `case`."""

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
                rounds=rounds,
            ),
        )
        return pytest.mark.parametrize("case", values, ids=list(cases))(function) if cases else function

    return mark


def check_of(function: object) -> Check | None:
    """The check that a function was made, or None."""
    found = getattr(function, _MARK, None)
    return found if isinstance(found, Check) else None


def checks_in(module: ModuleType) -> list[Check]:
    """The checks that a module defines, in its order."""
    return [
        found
        for member in vars(module).values()
        if (found := check_of(member)) is not None and member.__module__ == module.__name__
    ]
