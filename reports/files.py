"""Writes the output files of a run into its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gateproof.reports.formats import DEFAULT, FORMATS, Format, render
from gateproof.reports.record import FILE
from gateproof.reports.verdicts import RunResult

Guard = Callable[[str, bytes], None]


def rendered(result: RunResult, formats: Iterable[str] = DEFAULT) -> dict[str, dict[str, bytes]]:
    """The files of these formats, by format and path."""
    return {name: render(name, result) for name in formats}


def write_reports(
    projections: Mapping[str, Mapping[str, bytes]],
    folder: Path,
    *,
    guard: Guard | None = None,
    beside: bool = False,
) -> tuple[Path, ...]:
    """Writes rendered files atomically, removes those of an earlier run, and returns the paths.

    ``guard`` gets every file before the first one is written, and raises to refuse it. Files of other formats
    are removed too, unless ``beside`` is set.
    """
    contents = {path: content for files in projections.values() for path, content in files.items()}
    for path, content in contents.items():
        if guard is not None:
            guard(path, content)
    folder.mkdir(parents=True, exist_ok=True)
    replaced = projections if beside else FORMATS
    _remove_stale(folder, [FORMATS[name] for name in replaced], {folder / path for path in contents})
    for path, content in contents.items():
        write_file(folder / path, content)
    return tuple(folder / path for path in contents)


def _remove_stale(folder: Path, formats: Iterable[Format], fresh: set[Path]) -> None:
    """Removes files of an earlier run, but only those that belong to a format of the table."""
    for row in formats:
        for path in row.files_in(folder):
            if path not in fresh and (path.is_file() or path.is_symlink()):
                path.unlink()
                if path.parent != folder and not any(path.parent.iterdir()):
                    path.parent.rmdir()


def foreign_output(folder: Path) -> Path | None:
    """A file in a folder without a record that an output would replace or remove."""
    if (folder / FILE).exists():
        return None
    return next((path for row in FORMATS.values() for path in row.files_in(folder)), None)


def write_file(path: Path, content: bytes) -> None:
    """Writes a file as a whole; links in its place are replaced, not followed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.unlink(missing_ok=True)
    with unfinished.open("xb") as file:
        file.write(content)
    os.replace(unfinished, path)  # noqa: PTH105 - atomic on every system
