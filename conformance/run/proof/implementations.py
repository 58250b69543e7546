"""The implementations that a proof tests: the reference with one defect, or with legal variants."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
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
    rfc. `operation` is how a service is called. A variant that is `in_a_combination` gets all checks there.
    """

    kind: Literal["defect", "variant"]
    name: str
    what: str
    rules: tuple[str, ...]
    decides: frozenset[str] = frozenset()
    operation: Literal["http", "mcp"] = "http"
    in_a_combination: bool = False

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


def with_combinations(found: Sequence[Subject], count: int, seed: int) -> list[Subject]:
    """The subjects and combinations of their variants; variants in a combination are marked."""
    drawn = combinations([each for each in found if each.kind == "variant"], count, seed)
    together = {name for combination in drawn for name in combination.name.split("+")}
    alone = [
        replace(each, in_a_combination=each.kind == "variant" and each.name in together) for each in found
    ]
    return [*alone, *drawn]


def combinations(variants: Sequence[Subject], count: int, seed: int) -> list[Subject]:
    """Up to `count` sets of variants that take different decisions; MCP servers are not combined.

    Each variant is in one set, unless no set has room for it. The place of a variant depends on its name and
    the seed, so a new variant changes few sets.
    """
    sets: list[list[Subject]] = [[] for _ in range(count)]
    first_place = {
        variant: int.from_bytes(sha256(f"{seed}/{variant.name}".encode()).digest()[:8])
        for variant in variants
        if variant.operation == "http"
    }
    for variant in sorted(first_place, key=first_place.__getitem__):
        start = first_place[variant] % max(count, 1)
        for chosen in (*sets[start:], *sets[:start]):
            differ = not any(variant.decides & other.decides for other in chosen)
            if differ and len(chosen) < MOST_IN_A_COMBINATION:
                chosen.append(variant)
                break
    return [_combined(chosen) for chosen in sets if len(chosen) > 1]


def _combined(chosen: Sequence[Subject]) -> Subject:
    return Subject(
        kind="variant",
        name="+".join(variant.name for variant in chosen),
        what="; ".join(variant.what for variant in chosen),
        rules=tuple(rule for variant in chosen for rule in variant.rules),
    )


@cache
def _listed(kind: Literal["defect", "variant"], role: str) -> tuple[dict[str, Any], ...]:
    """The entries of a registry; asked once, because a process of its own loads every implementation."""
    command = [*PYTHON_MODULE, _KINDS[kind], role, "--list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise NoRegistry(f"{_KINDS[kind]} {role} --list ended with exit code {done.returncode}")
    return tuple(json.loads(done.stdout))
