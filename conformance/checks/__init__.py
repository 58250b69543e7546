"""The checks, in modules named after their family, and an index of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gateproof.conformance.suite.check import Check, checks_in


@cache
def index(role: str) -> Mapping[str, tuple[Check, ...]]:
    """The checks of a role by rule."""
    found: dict[str, list[Check]] = {}
    for check in (check for checks in checks_by_module(role).values() for check in checks):
        found.setdefault(check.rule, []).append(check)
    return {rule: tuple(checks) for rule, checks in found.items()}


@cache
def checks_by_module(role: str) -> Mapping[str, tuple[Check, ...]]:
    """The checks of a role by module."""
    return {name: tuple(checks_in(importlib.import_module(name))) for name in modules(role)}


def races(role: str) -> list[Check]:
    """The checks of a role with concurrent requests: another try may find what one try misses."""
    return [check for checks in checks_by_module(role).values() for check in checks if check.rounds]


def modules(role: str) -> list[str]:
    """The modules that hold a role's checks."""
    found = (module.name for module in pkgutil.iter_modules([str(place(role))]))
    return [f"{__name__}.{role}.{name}" for name in found if not name.startswith("_")]


def place(role: str) -> Path:
    """The folder of a role's checks."""
    return Path(__file__).parent / role
