"""The mutants of the reference, and the survivors that a person has judged."""

from __future__ import annotations

import json
import random
import subprocess
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gateproof.package import CHECKOUT

ENGINE = Path(__file__).with_name("engine.py")
_LIMIT_S = 600
# The files with decisions and state, by role; not those for serving, starting, and pages for people.
_FILES = {
    "gateway": (
        *("gateway/policy/*.py", "gateway/handlers/*.py", "gateway/clock.py", "gateway/keys.py"),
        *("gateway/merchants.py", "gateway/pages.py", "gateway/records.py", "gateway/store.py"),
        "gateway/vault.py",
    ),
    "service": (
        *("service/policy/*.py", "service/app.py", "service/backend.py", "service/gateway.py"),
        *("service/mcp.py", "service/proxy_tokens.py", "service/upstream.py"),
    ),
    "agent": (
        *("agent/policy/*.py", "agent/agent.py", "agent/callback.py", "agent/state.py", "agent/wire.py"),
    ),
}
# Only the harness uses the control; the reference agent calls the service by plain HTTP, not MCP.
_LEFT_OUT = {"reference/gateway/handlers/control.py", "reference/agent/policy/mcp.py"}


class NoMutants(Exception):
    """The mutants cannot be made; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One change of one function of the reference."""

    file: str
    line: int
    function: str
    operator: str
    change: tuple[str, ...]
    source: str = field(repr=False)

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.function} {self.operator}"

    @property
    def key(self) -> tuple[str, int, str, tuple[str, ...]]:
        """Identifies the mutant among all mutants of the same source."""
        return self.file, self.line, self.operator, self.change

    @property
    def module(self) -> str:
        return "gateproof." + self.file.removesuffix(".py").replace("/", ".")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """A survivor that a person has judged: no effect visible from outside, or the specification allows it."""

    file: str
    function: str
    change: tuple[str, ...]
    kind: Literal["equivalent", "legal"]
    why: str

    def is_of(self, mutant: Mutant) -> bool:
        return (self.file, self.function, self.change) == (mutant.file, mutant.function, mutant.change)


def mutants(role: str, checkout: Path = CHECKOUT, *, only: Collection[str] | None = None) -> list[Mutant]:
    """All mutants of a role, or those of some files, in the order of their files; raises NoMutants."""
    python = checkout / ".venv-mutants" / "bin" / "python"
    if not python.exists():
        raise NoMutants("mutants need an environment of their own: make prove ARGS='… --mutants' installs it")
    files = sorted(
        {
            str(path.relative_to(checkout))
            for glob in _FILES[role]
            for path in (checkout / "reference").glob(glob)
            if path.name != "__init__.py"
        }
        - _LEFT_OUT
    )
    if only is not None:
        files = [file for file in files if file in only]
    done = subprocess.run(
        [python, ENGINE, checkout, *files], capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    if done.returncode != 0:
        raise NoMutants(f"the engine ended with exit code {done.returncode}: {done.stderr[-500:]}")
    return [_mutant(json.loads(line)) for line in done.stdout.splitlines()]


def drawn(found: Sequence[Mutant], number: int | None, seed: int) -> list[Mutant]:
    """A sample by seed, or all in a random order."""
    chance = random.Random(seed)  # noqa: S311 - a choice, not a secret
    return chance.sample(list(found), len(found) if number is None else min(number, len(found)))


def judged(role: str) -> list[Judged]:
    """The judged survivors of a role."""
    place = Path(__file__).parents[3] / "catalogue" / "mutants" / f"{role}.toml"
    document = tomllib.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    return [
        Judged(
            file=entry["file"],
            function=entry["function"],
            change=tuple(entry["change"].strip("\n").split("\n")),
            kind=entry["kind"],
            why=entry["why"],
        )
        for entry in document.get("survivor", [])
    ]


def stale(entries: Sequence[Judged], found: Sequence[Mutant]) -> list[Judged]:
    """Entries for mutants that cannot be made any more."""
    there = {(mutant.file, mutant.function, mutant.change) for mutant in found}
    return [entry for entry in entries if (entry.file, entry.function, entry.change) not in there]


def _mutant(made: Mapping[str, Any]) -> Mutant:
    return Mutant(**{**made, "change": tuple(made["change"])})
