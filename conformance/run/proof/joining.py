"""Joins the shards of a proof into the proof that one machine would have made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.implementations import Subject, combinations, subjects
from gateproof.conformance.run.proof.proof import FILE, SCHEMA, Proof
from gateproof.conformance.run.proof.runs import Trial
from gateproof.conformance.run.proof.scope import Effort
from gateproof.conformance.run.proof.shard_files import shards_in
from gateproof.reports.shards import CannotMerge

_ALIKE = ("role", "effort", "seed", "selected", "harness", "catalogue_digest", "sources")


def joined(folders: Sequence[Path]) -> Proof:
    """The proof of which these folders hold one shard each; raises CannotMerge."""
    parts = shards_in(folders, FILE, SCHEMA, _ALIKE)
    first = parts[0]
    if first["sources"] != digests.of_the_suite():
        raise CannotMerge(f"{folders[0]}: was made by another version of the suite than this one")
    return Proof(
        role=first["role"],
        effort=Effort(first["effort"]),
        seed=first["seed"],
        trials=_trials(parts),
        complete=True,
        # Shards run in parallel, so the duration is that of the longest.
        took_s=max(part["took_s"] for part in parts),
        selected=first["selected"],
    )


def _trials(parts: Sequence[Mapping[str, Any]]) -> tuple[Trial, ...]:
    """All trials, in the order in which one machine lists them."""
    trials = [_trial(each) for part in parts for each in part["trials"]]
    named = {(trial.subject.kind, trial.subject.name): trial for trial in trials}
    first = parts[0]
    plain = subjects(first["role"])
    there = [subject for subject in plain if (subject.kind, subject.name) in named]
    drawn = combinations(
        [subject for subject in there if subject.kind == "variant"],
        sum(trial.subject.combined for trial in trials),
        first["seed"],
    )
    # A combination may be drawn twice.
    order = {
        key: place
        for place, key in enumerate(dict.fromkeys((each.kind, each.name) for each in [*there, *drawn]))
    }
    strange = [trial for trial in trials if (trial.subject.kind, trial.subject.name) not in order]
    if strange:
        raise CannotMerge(f"{strange[0].subject.name}: is no defect or variant that is shipped")
    return tuple(sorted(trials, key=lambda trial: order[trial.subject.kind, trial.subject.name]))


def _trial(said: Mapping[str, Any]) -> Trial:
    return Trial(
        subject=Subject(kind=said["kind"], name=said["name"], what=said["what"], rules=tuple(said["rules"])),
        failed=tuple(said["failed"]),
        failed_checks=tuple(said["failed_checks"]),
        broken={},
        untested={},
        reason="",
        duration_s=said["duration_s"],
        known_fault=said["fault"],
    )
