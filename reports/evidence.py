"""Writes the record of a run, line by line during the run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gateproof.reports import redaction
from gateproof.reports.chain import START, encode, link, plain, strings, texts
from gateproof.reports.exchanges import shown_to_dict
from gateproof.reports.header import Header, header_to_dict
from gateproof.reports.record import FILE, Kind
from gateproof.reports.run_result import Footer, footer_of
from gateproof.reports.verdicts import EXAMPLE, CheckResult

# Returns the kind of secret that a text contains, or None.
Scan = Callable[[str], str | None]
_SYNC_EVERY_S = 5.0
# Between texts that are searched together, so that two neighbouring ones do not look like one.
_SEPARATOR = "\0"
# The begin of an escape in JSON; without one, a line contains its texts as they are, between quotes.
_ESCAPE = b"\\"


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
        self._write([_Line(Kind.HEADER, plain(header_to_dict(header)))])
        self._header = header
        self._planned = {rule.id: (rule.section, rule.level) for rule in header.rules()}

    def check(self, result: CheckResult) -> None:
        """Writes the exchanges of one attempt of a check, then its result."""
        self._writing = True
        section, level = self._planned[result.rule]
        exchanges = [
            _Line(Kind.EXCHANGE, {"check": result.id, **shown_to_dict(shown)}) for shown in result.exchanges
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
            **({"waited_s": dict(result.waited_s)} if result.waited_s else {}),
            **({"picture": result.picture} if result.picture else {}),
        }
        values: dict[str, Any] = plain(found)
        said = [*strings(values), *(text for line in exchanges for text in line.texts)]
        values["public"] = sorted(redaction.runs(said) & set(result.public))
        self._write([*exchanges, _Line(Kind.CHECK, values)])
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
        self._write([_Line(Kind.FOOTER, plain(asdict(footer)))])
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

    def _write(self, lines: Sequence[_Line]) -> None:
        """Chains and writes lines, after scanning all of them for secrets."""
        written, prev = [], self._prev
        for number, line in enumerate(lines, start=self._number):
            octets = line.encoded(number, prev)
            written.append(octets)
            prev = link(octets)
        self._refuse_leaks(lines, written)
        rest = memoryview(b"".join(written))
        while rest:
            rest = rest[os.write(self._file, rest) :]
        self._number += len(lines)
        self._prev = prev
        if self._clock() - self._synced >= _SYNC_EVERY_S:
            os.fsync(self._file)
            self._synced = self._clock()

    def _refuse_leaks(self, lines: Sequence[_Line], written: Sequence[bytes]) -> None:
        """Scans everything at once, and each line and text separately only if something was found."""
        said = [_said(line, octets) for line, octets in zip(lines, written, strict=True)]
        if self._scan(_SEPARATOR.join(said)) is None:
            return
        for line, text in zip(lines, said, strict=True):
            if (found := self._scan(text)) is not None:
                place = next(
                    (place for place, each in texts(line.values) if self._scan(each) is not None), ""
                )
                raise LeakFound(found, f"{line.kind.value} {place}".strip())


class _Line:
    """A line to write: its kind, its values, and the texts in these without the escapes of JSON."""

    def __init__(self, kind: Kind, values: Mapping[str, Any]) -> None:
        self.kind = kind
        self.values = values
        self.texts = strings(values)

    def encoded(self, number: int, prev: str) -> bytes:
        placed = {"type": self.kind.value, "n": number, "prev": prev}
        try:
            return encode({**self.values, **placed})
        except ValueError:
            # Something in it cannot be written as it is, such as a half of a character.
            self.values = plain(self.values)
            self.texts = strings(self.values)
            return encode({**self.values, **placed})


def _said(line: _Line, octets: bytes) -> str:
    """A line as it is searched for secrets: as it is written and, if it has escapes, without them."""
    return octets.decode() if _ESCAPE not in octets else _SEPARATOR.join((octets.decode(), *line.texts))
