"""The implementations that a proof tests: the reference with one defect, or with legal variants."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal

from gateproof.package import PYTHON_MODULE

_KINDS: dict[Literal["defect", "variant"], str] = {
    "defect": "gateproof.reference.defects",
    "variant": "gateproof.reference.variants",
}
MOST_IN_A_COMBINATION = 6


class NoRegistry(Exception):
    """The list of defects or variants could not be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One implementation: its kind, name, description, and the rules that it may be reported under.

    For a defect, the first rule is the right one. A variant breaks no deciding rule; its rules are of level
    rfc. `operation` is how a service is called.
    """

    kind: Literal["defect", "variant"]
    name: str
    what: str
    rules: tuple[str, ...]
    decides: frozenset[str] = frozenset()
    operation: Literal["http", "mcp"] = "http"

    @property
    def combined(self) -> bool:
        """True for a set of several variants."""
        return "+" in self.name

    def program(self, role: str, runner: Sequence[str] = PYTHON_MODULE) -> tuple[str, ...]:
        """The command that starts it, without the arguments of the reference."""
        return (*runner, _KINDS[self.kind], role, self.name)


def subjects(role: str, only: Sequence[str] = ()) -> list[Subject]:
    """The shipped defects and variants of a role, filtered by patterns if there are any."""
    found = [
        Subject(
            kind=kind,
            name=entry["name"],
            what=entry["what"],
            rules=tuple(entry["rules"]),
            decides=frozenset(entry.get("decides", ())),
            operation=entry.get("operation", "http"),
        )
        for kind in _KINDS
        for entry in _listed(kind, role)
    ]
    return [subject for subject in found if not only or any(fnmatchcase(subject.name, glob) for glob in only)]


def combinations(variants: Sequence[Subject], count: int, seed: int) -> list[Subject]:
    """Random sets of variants of different decisions; variants that are MCP servers are not combined."""
    variants = [each for each in variants if each.operation == "http"]
    chance = random.Random(seed)  # noqa: S311 - a choice, not a secret
    drawn: list[Subject] = []
    for _ in range(count if len(variants) > 1 else 0):
        chosen: list[Subject] = []
        for variant in chance.sample(
            list(variants), chance.randint(2, min(MOST_IN_A_COMBINATION, len(variants)))
        ):
            if not any(variant.decides & other.decides for other in chosen):
                chosen.append(variant)
        drawn.append(
            Subject(
                kind="variant",
                name="+".join(variant.name for variant in chosen),
                what="; ".join(variant.what for variant in chosen),
                rules=tuple(rule for variant in chosen for rule in variant.rules),
            )
        )
    return drawn


@cache
def _listed(kind: Literal["defect", "variant"], role: str) -> tuple[dict[str, Any], ...]:
    """The entries of a registry; asked once, because a process of its own loads every implementation."""
    command = [*PYTHON_MODULE, _KINDS[kind], role, "--list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise NoRegistry(f"{_KINDS[kind]} {role} --list ended with exit code {done.returncode}")
    return tuple(json.loads(done.stdout))
