"""The folder that a run leaves behind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from gateproof.reports.formats import DEFAULT, FORMATS, Format, render
from gateproof.reports.verdicts import RunResult

Guard = Callable[[str, bytes], None]


def rendered(result: RunResult, formats: Iterable[str] = DEFAULT) -> dict[str, dict[str, bytes]]:
    """The files of these formats, by format and by path."""
    return {name: render(name, result) for name in formats}


def write_reports(
    projections: Mapping[str, Mapping[str, bytes]],
    folder: Path,
    *,
    guard: Guard | None = None,
    beside: bool = False,
) -> tuple[Path, ...]:
    """Writes what was rendered and says where; nobody meets a half-written file, or one of another run.

    ``guard`` sees every file before the first one is written, and refuses by raising. Formats that were not
    rendered are another run's, unless these go ``beside`` them.
    """
    contents = {path: content for files in projections.values() for path, content in files.items()}
    for path, content in contents.items():
        if guard is not None:
            guard(path, content)
    folder.mkdir(parents=True, exist_ok=True)
    replaced = projections if beside else FORMATS
    _remove_stale(folder, [FORMATS[name] for name in replaced], {folder / path for path in contents})
    for path, content in contents.items():
        _write(folder / path, content)
    return tuple(folder / path for path in contents)


def _remove_stale(folder: Path, formats: Iterable[Format], fresh: set[Path]) -> None:
    """What an earlier run left would be read as this run's; only files that the table knows are touched."""
    for row in formats:
        for path in row.files_in(folder):
            if path not in fresh and (path.is_file() or path.is_symlink()):
                path.unlink()
                if path.parent != folder and not any(path.parent.iterdir()):
                    path.parent.rmdir()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)  # noqa: PTH105 - atomic on every system
