"""The type of defects, and helpers to define them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from gateproof.reference.deviations.deviation import Operation, parsed
from gateproof.reference.outcomes import JsonObject

Check = TypeVar("Check", bound=Callable[..., Any])
Policies = TypeVar("Policies")


@dataclass(frozen=True, kw_only=True)
class Defect(Generic[Policies]):
    """One wrong decision.

    It breaks the first of `rules`. The others may fail too, because they cannot hold with this defect.
    A service shows the defect only if it is called by `operation`.
    """

    name: str
    what: str
    rules: tuple[str, ...]
    operation: Operation = "http"
    policies: Policies = field(repr=False)


class Rows(Generic[Policies]):
    """Makes the defects of one role from rows and wrong policies; all other policies stay the reference's."""

    def __init__(self, honest: Policies, operation: Operation = "http") -> None:
        self._honest = honest
        self._operation = operation

    def __call__(self, row: str, **wrong: Any) -> Defect[Policies]:
        name, rules, what = parsed(row)
        policies = replace(self._honest, **wrong)  # type: ignore[type-var]
        return Defect(name=name, what=what, rules=rules, operation=self._operation, policies=policies)


def without(checks: Iterable[Check], *left_out: Check) -> tuple[Check, ...]:
    """The same checks in the same order, without some of them."""
    return tuple(check for check in checks if check not in left_out)


def instead(checks: Iterable[Check], honest: Check, wrong: Check) -> tuple[Check, ...]:
    """The same checks in the same order, one of them replaced by a wrong one."""
    return tuple(wrong if check is honest else check for check in checks)


def without_members(document: JsonObject, *names: str) -> JsonObject:
    return {name: value for name, value in document.items() if name not in names}
