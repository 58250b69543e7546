"""Refusals, which checks return."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

JsonObject = dict[str, Any]
Facts = TypeVar("Facts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Status, error code and description of a refusal."""

    status: int
    error: str
    description: str
    challenge: str | None = None


def json_in(body: bytes) -> Any:
    """The JSON value of a body; None if there is none."""
    try:
        return json.loads(body.decode())
    except (ValueError, RecursionError):
        return None


def first_refusal(checks: Iterable[Callable[[Facts], Refusal | None]], facts: Facts) -> Refusal | None:
    """The refusal of the first check that fails; None if all pass."""
    for check in checks:
        if refusal := check(facts):
            return refusal
    return None
