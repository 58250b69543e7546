"""Reads the trials of an interrupted proof, to continue it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.implementations import Subject
from gateproof.conformance.run.proof.runs import UNDECIDED, UNDECLARED, Trial, read_again
from gateproof.conformance.run.proof.scope import Effort


class NotTheSame(ValueError):
    """There is no proof to continue, or it has other parameters, or it does not hold."""


def trials_of(
    path: Path,
    subjects: Sequence[Subject],
    *,
    role: str,
    effort: Effort,
    seed: int,
    shard: str = "",
    since: str = "",
) -> tuple[list[Trial], float]:
    """The finished trials, and how long they took; raises NotTheSame.

    Trials of subjects whose sources have changed, or that got other checks than now, are left out.
    """
    try:
        said: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        raise NotTheSame(f"there is no proof at {path} to continue: leave out --resume") from None
    if said.get("since", {}).get("proof", "") != since:
        raise NotTheSame(f"the proof at {path} was not made since the same shipped proof: leave out --resume")
    wanted = {"role": role, "effort": effort.value, "seed": seed, "sources": digests.of_the_suite()}
    if said.get("shard", "") != shard:
        raise NotTheSame(
            f"the proof at {path} is another shard: give the same --shard, or leave out --resume"
        )
    for name, value in wanted.items():
        if said.get(name) != value:
            raise NotTheSame(f"the proof at {path} was made with another value of {name}: leave out --resume")
    by_name = {(subject.kind, subject.name): subject for subject in subjects}
    tried: list[Trial] = []
    for each in said["trials"]:
        subject = by_name.get((each["kind"], each["name"]))
        if subject is not None and not _is_as_now(subject, each):
            continue
        trial = read_again(subject, each) if subject is not None else None
        if each["fault"].startswith(UNDECIDED):
            # No result: the trial is repeated.
            continue
        # A fault is not tried again, because it could be repeated until it passes. An undeclared rule may
        # have been declared since; then the result of the trial is still valid.
        stays = each["fault"] and not each["fault"].startswith(UNDECLARED)
        if fault := each["fault"] if stays or trial is None else trial.fault():
            raise NotTheSame(f"the proof at {path} does not hold ({each['name']}: {fault}): start a new one")
        tried += [trial] if trial is not None else []
    return tried, float(said["took_s"])


def _is_as_now(subject: Subject, said: Mapping[str, Any]) -> bool:
    """True if the subject has not changed and got as many checks as it gets now."""
    same_checks = said.get("in_a_combination", False) == subject.in_a_combination
    return same_checks and said.get("sources") == digests.of(subject)
