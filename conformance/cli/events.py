"""Events of a run while it goes on, as lines of JSON in a file (`--events`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gateproof.reports.verdicts import CheckResult, RunResult

SCHEMA = "gateproof/events/1"


class Events:
    """Writes each event at once, so that a reader sees it while the run goes on."""

    def __init__(self, file: IO[str] | None) -> None:
        self._file = file
        # Why the file could not be written any more; the run continues without it.
        self.lost = ""

    def begun(self, target: str, role: str, seed: int, checks: int) -> None:
        self._write("run-started", {"target": target, "role": role, "seed": seed, "checks": checks})

    def judged(self, check: CheckResult) -> None:
        """The result of a check, in the redacted form of the record."""
        self._write(
            "check",
            {
                "check": check.id,
                "rule": check.rule,
                "verdict": check.verdict.value,
                "reason": check.reason.value,
                "message": check.message,
                "duration_s": check.duration_s,
            },
        )

    def ended(self, result: RunResult) -> None:
        facts = {"verdict": result.verdict.value, "reason": result.reason, "counts": result.counts}
        self._write("run-ended", facts)

    def _write(self, event: str, facts: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"schema": SCHEMA, "event": event, "at": at, **facts}, ensure_ascii=True)
        try:
            self._file.write(f"{line}\n")
            self._file.flush()
        except OSError as problem:
            self._file, self.lost = None, problem.strerror or type(problem).__name__


@contextmanager
def events_in(path: Path | None, out: Path) -> Iterator[Events]:
    """Opens the file; raises ValueError if it exists with other content, which must not be overwritten."""
    if path is None:
        yield Events(None)
        return
    if path.absolute().resolve().is_relative_to(out.absolute().resolve()):
        raise ValueError(f"--events {path}: the report folder is for signed files; choose another folder")
    try:
        if path.is_file() and path.stat().st_size and not _is_ours(path):
            raise ValueError(
                f"--events {path}: found a file that gateproof did not write; choose another name"
            )
        file = path.open("w", encoding="ascii")
    except OSError as problem:
        raise ValueError(f"--events {path}: {problem.strerror}") from problem
    try:
        yield Events(file)
    finally:
        with suppress(OSError):
            file.close()


def _is_ours(path: Path) -> bool:
    start = f'{{"schema": "{SCHEMA}"'.encode()
    with path.open("rb") as file:
        return file.read(len(start)) == start
