"""How a decision says no."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

JsonObject = dict[str, Any]
Facts = TypeVar("Facts")


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A refusal as it goes out: status, error code and a sentence for developers."""

    status: int
    error: str
    description: str
    challenge: str | None = None


def json_in(body: bytes) -> Any:
    """The JSON value of a body; None when it holds none."""
    try:
        return json.loads(body.decode())
    except (ValueError, RecursionError):
        return None


def first_refusal(checks: Iterable[Callable[[Facts], Refusal | None]], facts: Facts) -> Refusal | None:
    """The first check that objects decides: the order of checks is the order of the answers."""
    for check in checks:
        if refusal := check(facts):
            return refusal
    return None
