"""A proof that was interrupted, and goes on where it was."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conformance.run.scope import Effort
from conformance.run.subjects import Subject
from conformance.run.trials import UNDECLARED, Trial

_CHECKOUT = Path(__file__).parents[2]
_PACKAGES = ("conformance", "fakes", "reference", "reports")
# The rules that a defect declares are what its trial is judged by, and no part of the trial.
_DECLARED = re.compile(rb'"[A-Z]+-\d\d(?: [A-Z]+-\d\d)*"')


class NotTheSame(ValueError):
    """The proof that lies there is another one, or does not hold, or there is none."""


@cache
def sources() -> str:
    """The digest of all that a trial depends on: one with other sources proves nothing of these."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((_CHECKOUT / package).rglob("*.py")):
            digest.update(f"{path.relative_to(_CHECKOUT)}\0".encode())
            digest.update(hashlib.sha256(_as_tried(path)).digest())
    return digest.hexdigest()


def _as_tried(path: Path) -> bytes:
    source = path.read_bytes()
    return _DECLARED.sub(b'""', source) if path.parent.name == "defects" else source


def trials_of(
    path: Path, subjects: Sequence[Subject], *, role: str, effort: Effort, seed: int
) -> tuple[list[Trial], float]:
    """The trials that were made, and how long that took; raises NotTheSame."""
    try:
        said: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        raise NotTheSame(f"there is no proof at {path} to go on with") from None
    wanted = {"role": role, "effort": effort.value, "seed": seed, "sources": sources()}
    for name, value in wanted.items():
        if said.get(name) != value:
            raise NotTheSame(f"the proof at {path} was made with another value of {name}: leave out --resume")
    by_name = {(subject.kind, subject.name): subject for subject in subjects}
    tried: list[Trial] = []
    for each in said["trials"]:
        subject = by_name.get((each["kind"], each["name"]))
        trial = _trial(subject, each) if subject is not None else None
        # Whoever could try again what was at fault could go on until it is not. A rule that should have been
        # declared may be declared since: what the trial found stays what it was.
        stays = each["fault"] and not each["fault"].startswith(UNDECLARED)
        if fault := each["fault"] if stays or trial is None else trial.fault():
            raise NotTheSame(f"the proof at {path} does not hold ({each['name']}: {fault}): begin anew")
        tried += [trial] if trial is not None else []
    return tried, float(said["took_s"])


def _trial(subject: Subject, said: dict[str, Any]) -> Trial:
    return Trial(
        subject=subject,
        failed=tuple(said["failed"]),
        failed_checks=tuple(said["failed_checks"]),
        broken=(),
        untested={},
        reason="",
        duration_s=said["duration_s"],
    )
