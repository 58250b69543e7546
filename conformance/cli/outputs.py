"""Writes the outputs of a run from its record, then the seal over them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from gateproof.reports import leaks, seal
from gateproof.reports.files import foreign_output, rendered, write_file, write_reports
from gateproof.reports.signing import SigningKey
from gateproof.reports.summary import append_job_summary
from gateproof.reports.verdicts import RunResult


class Leak(Exception):
    """An output would contain a credential, so nothing was written; the text has file and kind."""


def write_all(
    result: RunResult,
    folder: Path,
    formats: Sequence[str],
    key: SigningKey | None,
    before: Sequence[str] = (),
) -> tuple[Path, ...]:
    """Writes the outputs and, with a key, the seal; returns the paths of the outputs.

    Without a key the folder already has a seal, and the other outputs that it covers are kept. `before` are
    the digests of the seals that a new one replaces.
    """
    projections = rendered(result, formats)
    written = write_reports(projections, folder, guard=_guard, beside=key is None)
    if key is not None:
        for name, content in seal.seal(result, projections, key, before).items():
            write_file(folder / name, content)
    return written


def refuse_foreign(folder: Path) -> None:
    """Raises ValueError if outputs would replace or remove files that belong to no run."""
    if (found := foreign_output(folder)) is not None:
        raise ValueError(
            f"--out {folder}: found {found.relative_to(folder)}, which gateproof would replace, and no "
            "record of a run; choose another folder"
        )


def forget(folder: Path) -> None:
    """Removes the outputs and the seal of an earlier run; its record is replaced later."""
    write_reports({}, folder)
    for name in seal.FILES:
        (folder / name).unlink(missing_ok=True)


def tell_job(projections_in: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Appends the summary to the summary of the CI job, if there is one."""
    place = environment.get("GITHUB_STEP_SUMMARY", "")
    summary = projections_in / "summary.md"
    if place and summary.is_file():
        append_job_summary(Path(place), summary.read_text(encoding="utf-8"))


def _guard(path: str, content: bytes) -> None:
    kind = leaks.credential_kind(content.decode("utf-8", "replace"))
    if kind is not None:
        raise Leak(f"{path} would contain a {kind}: no output was written")
