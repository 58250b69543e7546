"""Joins the shards of a proof by mutants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gateproof.conformance.run.proof.mutation.mutant_proof import FILE, SCHEMA, figures
from gateproof.conformance.run.proof.shard_files import shards_in

_ALIKE = ("role", "seed", "sample", "sources")


def joined(folders: Sequence[Path]) -> dict[str, Any]:
    """The content of mutants.json for all shards; raises CannotMerge."""
    parts = shards_in(folders, FILE, SCHEMA, _ALIKE)
    first = parts[0]
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
