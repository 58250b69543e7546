"""Joins the shards of a proof into the proof that one machine would have made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.implementations import Subject, combinations, subjects
from gateproof.conformance.run.proof.proof import FILE, SCHEMA, Proof
from gateproof.conformance.run.proof.runs import Trial
from gateproof.conformance.run.proof.scope import Effort
from gateproof.reports.shards import CannotMerge, in_order

_ALIKE = ("role", "effort", "seed", "selected", "harness", "catalogue_digest", "sources")


def joined(folders: Sequence[Path]) -> Proof:
    """The proof of which these folders hold one shard each; raises CannotMerge."""
    read = [(str(folder), _read(folder)) for folder in folders]
    first_name, first = read[0]
    for name, part in read:
        for what in _ALIKE:
            if part[what] != first[what]:
                raise CannotMerge(f"{name}: has another {what} than {first_name}")
        if part["sources"] != digests.of_the_suite():
            raise CannotMerge(f"{name}: was made by another version of the suite than this one")
    ordered = in_order([(name, part.get("shard", ""), part) for name, part in read])
    if unfinished := next((name for name, part in ordered if not part["complete"]), None):
        raise CannotMerge(f"{unfinished}: is not complete: continue it with prove --resume")
    return Proof(
        role=first["role"],
        effort=Effort(first["effort"]),
        seed=first["seed"],
        trials=_trials([part for _, part in ordered]),
        complete=True,
        # Shards run in parallel, so the duration is that of the longest.
        took_s=max(part["took_s"] for _, part in ordered),
        selected=first["selected"],
    )


def _read(folder: Path) -> dict[str, Any]:
    path = folder / FILE
    try:
        said = json.loads(path.read_bytes())
    except OSError as error:
        raise CannotMerge(f"{path}: {error.strerror}") from None
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        raise CannotMerge(f"{path}: is no {SCHEMA}")
    if missing := [name for name in (*_ALIKE, "complete", "took_s", "trials") if name not in said]:
        raise CannotMerge(f"{path}: has no {missing[0]}")
    return said


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
