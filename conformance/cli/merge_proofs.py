"""`gateproof merge` with the folders of a proof's shards."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gateproof.conformance.cli.folder import claimed
from gateproof.conformance.run.proof.implementations import NoRegistry
from gateproof.conformance.run.proof.joining import merged
from gateproof.conformance.run.proof.mutation import joining as of_mutants
from gateproof.conformance.run.proof.mutation.mutant_proof import FILE as MUTANTS
from gateproof.conformance.run.proof.mutation.mutant_proof import keep
from gateproof.conformance.run.proof.proof import FILE
from gateproof.reports.escaping import harmless
from gateproof.reports.record import FILE as RECORD
from gateproof.reports.shards import CannotMerge
from gateproof.reports.terminal import screen

_WRONG_USAGE = 2
# Options for the outputs and the seal of a run; a proof has neither.
_NOT_WITH = ("format", "sign_key", "key")


def are_proofs(folders: Sequence[Path]) -> bool:
    """True if one of the folders holds a proof, with defects or mutants, and none holds a run."""
    return _any_has(FILE, folders) or _any_has(MUTANTS, folders)


def join_proofs(arguments: argparse.Namespace) -> int:
    """Merges the shards; returns the exit code of the whole proof."""
    from gateproof.conformance.cli import prove, prove_mutants  # noqa: PLC0415

    out = arguments.out or Path("gateproof-proof")
    given = [f"--{name.replace('_', '-')}" for name in _NOT_WITH if getattr(arguments, name)]
    shown = screen(no_color=False)
    try:
        if given:
            raise CannotMerge(f"{', '.join(given)}: proofs are merged without it")
        if not _any_has(FILE, arguments.folders):
            document = of_mutants.merged(arguments.folders)
            with claimed(out):
                keep(document, out / MUTANTS)
            return prove_mutants.tell(shown, document["figures"], out / MUTANTS)
        proof = merged(arguments.folders)
        with claimed(out):
            prove.keep(proof, out)
    except (ValueError, OSError, NoRegistry) as problem:
        print(harmless(f"gateproof: {problem}"), file=sys.stderr)
        return _WRONG_USAGE
    prove.tell(shown, proof)
    shown.say(f"proof: {out / FILE}")
    return proof.outcome()


def _any_has(file: str, folders: Sequence[Path]) -> bool:
    return any((folder / file).is_file() and not (folder / RECORD).exists() for folder in folders)
