"""What a defect is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from gateproof.reference.gateway.policies import Policies
from gateproof.reference.outcomes import JsonObject

Check = TypeVar("Check", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class Defect:
    """One wrong decision.

    The first of `rules` is the one that it breaks; under the others it may be reported as well, because a
    gateway that is wrong there cannot be right here.
    """

    name: str
    what: str
    rules: tuple[str, ...]
    policies: Policies = field(repr=False)


def defect(name: str, what: str, rules: str, **wrong: Any) -> Defect:
    """A defect in these policies; all the others stay honest."""
    return Defect(name=name, what=what, rules=tuple(rules.split()), policies=replace(Policies(), **wrong))


def without(checks: Iterable[Check], *left_out: Check) -> tuple[Check, ...]:
    """The same checks in the same order, some of them forgotten."""
    return tuple(check for check in checks if check not in left_out)


def instead(checks: Iterable[Check], honest: Check, wrong: Check) -> tuple[Check, ...]:
    """The same checks in the same order, one of them done wrong."""
    return tuple(wrong if check is honest else check for check in checks)


def lacking(document: JsonObject, *names: str) -> JsonObject:
    return {name: value for name, value in document.items() if name not in names}
