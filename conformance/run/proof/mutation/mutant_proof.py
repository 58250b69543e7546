"""The mutants that a proof tries, its trials, and the file that keeps them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof import digests
from gateproof.conformance.run.proof.mutation.mutants import Judged, Mutant
from gateproof.conformance.run.proof.mutation.trials import MutantTrial, read_again

SCHEMA = "gateproof/mutants/1"
FILE = "mutants.json"
# A killed command loses at most this number of trials.
_KEPT_EVERY = 10


class MutantProof:
    """The mutants to try, the trials so far, and the file that keeps them.

    `made_with` has to be the same for a proof to be continued.
    """

    def __init__(
        self,
        path: Path,
        *,
        made_with: Mapping[str, Any],
        of: int,
        chosen: Sequence[Mutant],
        known: Sequence[Judged],
    ) -> None:
        self.path = path
        self._made_with = {"schema": SCHEMA, **made_with, "sources": digests.of_the_suite()}
        self._of = of
        self._chosen = chosen
        self._known = known
        self._begun = time.monotonic()
        self._before_s = 0.0
        self.trials: list[MutantTrial] = []

    def continue_from_file(self) -> None:
        """Reads the trials of an interrupted proof; raises ValueError if it was another one."""
        try:
            said = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            raise ValueError(f"there are no mutants at {self.path} to continue: leave out --resume") from None
        for name in (*self._made_with, "shard"):
            if said.get(name) != self._made_with.get(name):
                other = f"{self.path} was made with another value of {name}"
                raise ValueError(f"{other}: leave out --resume")
        by_key = {mutant.key: mutant for mutant in self._chosen}
        again = (read_again(each, by_key) for each in said["trials"])
        self.trials = [trial for trial in again if trial is not None]
        self._before_s = float(said["took_s"])

    @property
    def left(self) -> list[Mutant]:
        tried = {trial.mutant.key for trial in self.trials}
        return [mutant for mutant in self._chosen if mutant.key not in tried]

    def survived(self, trial: MutantTrial) -> bool:
        return not trial.caught_by and not self._judgement(trial)

    def add(self, trial: MutantTrial) -> None:
        self.trials.append(trial)
        if len(self.trials) % _KEPT_EVERY == 0:
            self.keep()

    def keep(self) -> dict[str, Any]:
        """Writes the file atomically; returns its content."""
        document = {
            **self._made_with,
            "complete": not self.left,
            "took_s": round(self._before_s + time.monotonic() - self._begun, 1),
            "figures": figures(self._of, [self._as_json(trial) for trial in self.trials]),
            "trials": [self._as_json(trial) for trial in self.trials],
        }
        keep(document, self.path)
        return document

    def _as_json(self, trial: MutantTrial) -> dict[str, Any]:
        return trial.as_json() | {"judged": self._judgement(trial)}

    def _judgement(self, trial: MutantTrial) -> str:
        found = (entry.kind for entry in self._known if not trial.caught_by and entry.is_of(trial.mutant))
        return next(found, "")


def keep(document: Mapping[str, Any], path: Path) -> None:
    """Writes the file atomically, so that a full disk or a kill leaves the old content."""
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)


def figures(of: int, trials: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many mutants there are, how many were tried, and what became of them."""
    apart = {"equivalent", "legal", "survived", "no verdict"}
    became = [trial["caught_by"] or trial["judged"] or "survived" for trial in trials]
    counts = Counter(each if each in apart else "caught" for each in became)
    return {
        "mutants": of,
        "tried": len(trials),
        **{name: counts[name] for name in ("caught", "equivalent", "legal", "survived")},
        # They could not be tested, so no rule has caught them.
        "no_verdict": counts["no verdict"],
    }
