"""Writes the record of a run, line by line during the run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gateproof.reports import redaction
from gateproof.reports.chain import START, encode, link, plain, strings, texts
from gateproof.reports.exchanges import Shown
from gateproof.reports.header import Header, header_to_dict
from gateproof.reports.record import FILE, Kind
from gateproof.reports.run_result import Footer, footer_of
from gateproof.reports.verdicts import EXAMPLE, CheckResult

# Returns the kind of secret that a text contains, or None.
Scan = Callable[[str], str | None]
_SYNC_EVERY_S = 5.0
_SHOWN = tuple(field.name for field in fields(Shown))


class LeakFound(Exception):
    """A line contains a secret; the text has its kind and path, never its value."""

    def __init__(self, kind: str, place: str) -> None:
        self.kind = kind
        self.place = place
        super().__init__(f"a {kind} is in {place} of a line of {FILE}: the line was not written")


class EvidenceWriter:
    """Writes a record in whole lines, which stay in the file whatever happens next."""

    def __init__(self, path: Path, *, scan: Scan, clock: Callable[[], float] = time.monotonic) -> None:
        self._scan = scan
        self._clock = clock
        self._header: Header | None = None
        self._planned: dict[str, tuple[str, str]] = {}
        self._checks: list[CheckResult] = []
        self._number = 0
        self._prev = START
        path.unlink(missing_ok=True)
        # A new file: links are not followed, and a reader of the old file sees no change.
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._synced = clock()
        self._writing = False

    @property
    def begun(self) -> bool:
        """True once the first line was written, or a part of it."""
        return self._number > 0

    @property
    def whole(self) -> bool:
        """False without a header, or if an exception stopped the writing of a line: nothing may follow."""
        return self._header is not None and not self._writing

    def header(self, header: Header) -> None:
        """Writes the first line."""
        if self._number:
            raise ValueError("a record begins with its header")
        self._write([(Kind.HEADER, plain(header_to_dict(header)))])
        self._header = header
        self._planned = {rule.id: (rule.section, rule.level) for rule in header.rules()}

    def check(self, result: CheckResult) -> None:
        """Writes the exchanges of one attempt of a check, then its result."""
        self._writing = True
        section, level = self._planned[result.rule]
        exchanges = [
            (Kind.EXCHANGE, plain({"check": result.id, **_values(shown)})) for shown in result.exchanges
        ]
        ordinals = list(range(self._number, self._number + len(exchanges)))
        found = {
            "id": result.id,
            "rule": result.rule,
            "section": section,
            "level": level,
            "verdict": result.verdict.value,
            "reason": result.reason.value,
            "message": result.message,
            "expected": result.expected,
            "got": result.got,
            "observations": dict(result.observations),
            "exchanges": ordinals,
            "guilty": result.guilty,
            "scenario": result.scenario,
            "faults": [dict(fault) for fault in result.faults],
            "example": result.observations.get(EXAMPLE),
            "replay": result.replay,
            "blocking": result.blocking,
            "duration_s": result.duration_s,
            **({"picture": result.picture} if result.picture else {}),
        }
        values: dict[str, Any] = plain(found)
        said = strings([values, *(shown for _, shown in exchanges)])
        values["public"] = sorted(redaction.runs(said) & set(result.public))
        self._write([*exchanges, (Kind.CHECK, values)])
        # Without the exchanges, which are in the record: those of a long run would fill the memory.
        self._checks.append(replace(result, exchanges=()))
        self._writing = False

    def missing(self) -> int:
        """The number of planned checks without a line."""
        planned = self._header.planned_checks() if self._header is not None else set()
        return len(planned - {check.id for check in self._checks})

    def footer(self, *, duration_s: float, cut_short: str = "") -> Footer:
        """Writes the last line; a run that crashed or was killed has none."""
        if self._header is None:
            raise ValueError("a record begins with its header")
        footer = footer_of(self._header, self._checks, duration_s=duration_s, cut_short=cut_short)
        self._write([(Kind.FOOTER, plain(asdict(footer)))])
        os.fsync(self._file)
        return footer

    def close(self) -> None:
        """Closes the file, with or without a footer."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, lines: list[tuple[Kind, Mapping[str, Any]]]) -> None:
        """Chains and writes lines, after scanning all of them for secrets."""
        written, prev = [], self._prev
        for number, (kind, values) in enumerate(lines, start=self._number):
            line = encode({**values, "type": kind.value, "n": number, "prev": prev})
            self._refuse_leaks(kind, values, line)
            written.append(line)
            prev = link(line)
        rest = memoryview(b"".join(written))
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._number += len(lines)
        self._prev = prev
        if self._clock() - self._synced >= _SYNC_EVERY_S:
            os.fsync(self._file)
            self._synced = self._clock()

    def _refuse_leaks(self, kind: Kind, values: Mapping[str, Any], line: bytes) -> None:
        """Scans everything at once, and each text separately only if something was found."""
        # NUL as separator, so that two neighbouring texts do not look like one.
        found = self._scan("\0".join([line.decode(), *strings(values)]))
        if found is None:
            return
        place = next((place for place, text in texts(values) if self._scan(text) is not None), "")
        raise LeakFound(found, f"{kind.value} {place}".strip())


def _values(shown: Shown) -> dict[str, Any]:
    """The fields of an exchange; unlike `asdict`, this does not copy the values."""
    return {name: getattr(shown, name) for name in _SHOWN}
