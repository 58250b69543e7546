"""Joins the shards of a proof by mutants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof.mutation.mutant_proof import FILE, SCHEMA, figures
from gateproof.conformance.run.proof.shard_files import shards_in
from gateproof.reports.shards import CannotMerge

_ALIKE = ("role", "seed", "sample", "sources")


def merged(folders: Sequence[Path]) -> dict[str, Any]:
    """The content of mutants.json for all shards; raises CannotMerge."""
    parts = shards_in(folders, FILE, SCHEMA, _ALIKE)
    first = parts[0]
    if len(numbers := {part["figures"]["mutants"] for part in parts}) > 1:
        raise CannotMerge(
            f"the shards are of {' and '.join(map(str, sorted(numbers)))} mutants: other engines"
        )
    trials = [trial for part in parts for trial in part["trials"]]
    return {
        "schema": SCHEMA,
        **{what: first[what] for what in _ALIKE},
        "complete": True,
        # Shards run in parallel, so the duration is that of the longest.
        "took_s": max(part["took_s"] for part in parts),
        "figures": figures(first["figures"]["mutants"], trials),
        "trials": trials,
    }
