"""Runs the suite against one mutant, until a check catches it."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateproof.conformance.checks import index
from gateproof.conformance.run.context.embedded import Embedded
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.run.proof.mutation.mutants import Mutant
from gateproof.conformance.run.proof.runs import own_place
from gateproof.conformance.run.proof.scope import rules_of
from gateproof.conformance.suite import rules
from gateproof.reports.verdicts import RunResult, RunVerdict, Verdict

_JUDGED = ("spec", "entailed", "rfc")
# The part of the service that only MCP calls reach.
_MCP = "reference/service/mcp.py"
# For a mutant that could not be tested at all: noticed, but by no rule.
NO_VERDICT = "no verdict"


@dataclass(frozen=True, kw_only=True, slots=True)
class MutantTrial:
    """The result for a mutant: the check that caught it, NO_VERDICT, or nothing for a survivor."""

    mutant: Mutant
    caught_by: str
    took_s: float

    def as_json(self) -> dict[str, Any]:
        mutant = self.mutant
        return {
            "file": mutant.file,
            "line": mutant.line,
            "function": mutant.function,
            "operator": mutant.operator,
            "change": list(mutant.change),
            "caught_by": self.caught_by,
            "took_s": self.took_s,
        }


def read_again(said: Mapping[str, Any], mutants: Mapping[tuple[Any, ...], Mutant]) -> MutantTrial | None:
    """The trial of a stored entry; None if its mutant is not one of these."""
    key = (said["file"], said["line"], said["operator"], tuple(said["change"]))
    if key not in mutants:
        return None
    return MutantTrial(mutant=mutants[key], caught_by=said["caught_by"], took_s=said["took_s"])


def attempt_mutant(mutant: Mutant, role: str, seed: int) -> MutantTrial:
    """Runs one case of each check first, because most mutants fail there; then all others."""
    begun, own = time.monotonic(), own_place(seed)
    caught_by = ""
    with TemporaryDirectory(prefix="gateproof-mutant-") as folder:
        file = Path(folder) / "mutant.json"
        change = {"module": mutant.module, "function": mutant.function, "source": mutant.source}
        file.write_text(json.dumps(change), encoding="utf-8")
        embedded = Embedded(
            name=f"mutant {mutant.name}",
            program=(*own.runner, "gateproof.reference.mutants", role, str(file)),
            operation="mcp" if mutant.file == _MCP else "http",
        )
        for number, chosen in enumerate(_stages(role, f"{seed}/{mutant.name}/{mutant.change}")):
            options = RunOptions(
                role=role, seed=seed, chosen=chosen, fail_fast=True, shuffle=True, exchanges=False
            )
            stage = own.stage() if role == "gateway" else None
            place = Path(folder) / f"run-{number}"
            result = carry_out(embedded, rules_of(chosen, role), options, lambda _: None, place, stage)
            if caught_by := _caught_by(result):
                break
    return MutantTrial(mutant=mutant, caught_by=caught_by, took_s=round(time.monotonic() - begun, 1))


def _stages(role: str, chance: str) -> tuple[frozenset[str], frozenset[str]]:
    levels = {rule.id: rule.level for rule in rules.load().for_role(role)}
    judged = [check for checks in index(role).values() for check in checks if levels[check.rule] in _JUDGED]
    choice = random.Random(chance)  # noqa: S311 - a choice, not a secret
    first = frozenset(choice.choice(list(check.ids())) for check in judged if not check.whole_run)
    return first, frozenset(case for check in judged for case in check.ids()) - first


def _caught_by(result: RunResult) -> str:
    for rule in result.rules:
        for check in rule.checks if rule.level in _JUDGED else ():
            if check.verdict is Verdict.FAILED:
                return check.id
    return NO_VERDICT if result.verdict is RunVerdict.NO_VERDICT else ""
