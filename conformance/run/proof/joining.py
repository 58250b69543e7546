"""Joins the shards of a proof into the proof that one machine would have made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.implementations import Subject, subjects, with_combinations
from gateproof.conformance.run.proof.proof import FILE, SCHEMA, Proof
from gateproof.conformance.run.proof.runs import Trial, read_again
from gateproof.conformance.run.proof.scope import Effort
from gateproof.conformance.run.proof.shard_files import shards_in
from gateproof.reports.shards import CannotMerge

_ALIKE = (
    *("role", "effort", "seed", "selected", "harness", "catalogue_digest", "sources"),
    *("combinations", "of"),
)
_OF_A_TRIAL = ("kind", "name", "what", "rules", "failed", "failed_checks", "fault", "duration_s", "sources")


def merged(folders: Sequence[Path]) -> Proof:
    """The proof of which these folders hold one shard each; raises CannotMerge."""
    parts = shards_in(folders, FILE, SCHEMA, _ALIKE)
    first = parts[0]
    if first["sources"] != digests.of_the_suite():
        raise CannotMerge(f"{folders[0]}: was made by another version of the suite than this one")
    trials = [_trial(each) for part in parts for each in part["trials"]]
    if len(trials) != first["of"]:
        raise CannotMerge(
            f"found {len(trials)} trials, expected {first['of']}: the shards were divided otherwise"
        )
    return Proof(
        role=first["role"],
        effort=Effort(first["effort"]),
        seed=first["seed"],
        trials=_in_order(trials, first),
        complete=True,
        # Shards run in parallel, so the duration is that of the longest.
        took_s=max(part["took_s"] for part in parts),
        selected=first["selected"],
        drawn=first["combinations"],
    )


def _in_order(trials: Sequence[Trial], made: Mapping[str, Any]) -> tuple[Trial, ...]:
    """All trials, each once, in the order in which one machine lists them."""
    found: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        found.setdefault(_key(trial.subject), []).append(trial)
    plain = [subject for subject in subjects(made["role"]) if _key(subject) in found]
    every = with_combinations(plain, made["combinations"], made["seed"])
    listed = [waiting.pop(0) for each in every if (waiting := found.get(_key(each)))]
    if strange := [trial for waiting in found.values() for trial in waiting]:
        name = strange[0].subject.name
        raise CannotMerge(f"{name}: was tried twice, or is no defect or variant that is shipped")
    return tuple(listed)


def _key(subject: Subject) -> tuple[str, str]:
    return subject.kind, subject.name


def _trial(said: Mapping[str, Any]) -> Trial:
    if missing := [name for name in _OF_A_TRIAL if name not in said]:
        raise CannotMerge(f"a trial has no {missing[0]}")
    subject = Subject(
        kind=said["kind"],
        name=said["name"],
        what=said["what"],
        rules=tuple(said["rules"]),
        in_a_combination=said.get("in_a_combination", False),
    )
    if said["sources"] != digests.of(subject):
        raise CannotMerge(f"{subject.name}: has changed since it was tried: continue its shard with --resume")
    return read_again(subject, said, known_fault=said["fault"])
