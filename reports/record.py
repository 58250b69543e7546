"""Reads the record of a run, from which all outputs are generated."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from gateproof.reports.chain import START, NotALine, decode, link
from gateproof.reports.exchanges import Shown
from gateproof.reports.header import Header, header_from_dict
from gateproof.reports.plain_files import read_plain
from gateproof.reports.run_result import INTERRUPTED, Footer, run_facts, target_facts, verdicts_of
from gateproof.reports.strict import Malformed
from gateproof.reports.strict import decode as as_value
from gateproof.reports.verdicts import CheckResult, Reason, RunResult, Verdict

FILE = "evidence.jsonl"


class Kind(StrEnum):
    """The kind of a line."""

    HEADER = "header"
    EXCHANGE = "exchange"
    CHECK = "check"
    FOOTER = "footer"


class Unreadable(ValueError):
    """The file is not a record, or its header cannot be read."""

    def __init__(self, path: Path, why: str) -> None:
        self.why = why
        super().__init__(f"{path}: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckLine:
    """One attempt of a check. `exchanges` are the ordinals of the lines of its exchanges."""

    id: str
    rule: str
    section: str
    level: str
    verdict: Verdict
    reason: Reason
    message: str
    expected: str
    got: str
    observations: Mapping[str, Any]
    exchanges: tuple[int, ...]
    faults: tuple[Any, ...]
    example: Any
    replay: Any
    blocking: bool
    duration_s: float
    public: tuple[str, ...]
    # Older records do not have these four.
    waited_s: Mapping[str, float] = field(default_factory=dict)
    guilty: int | None = None
    scenario: str = ""
    picture: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeLine:
    """One exchange and the ID of its check."""

    check: str
    shown: Shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """A problem with a line, counted from one; `torn` is a last line that a kill cut off."""

    line: int
    text: str
    torn: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """Everything that could be read; exchanges and checks by line number."""

    header: Header
    exchanges: Mapping[int, ExchangeLine]
    checks: Mapping[int, CheckLine]
    footer: Footer | None
    digest: str
    lines: int
    faults: tuple[Fault, ...]


@dataclass(kw_only=True, slots=True)
class _Reading:
    """The lines read so far."""

    header: Header | None = None
    exchanges: dict[int, ExchangeLine] = field(default_factory=dict)
    checks: dict[int, CheckLine] = field(default_factory=dict)
    footer: Footer | None = None
    faults: list[Fault] = field(default_factory=list)

    def take(self, number: int, values: dict[str, Any]) -> None:
        """Adds one line; refuses a kind of line that is not allowed at this place."""
        kind = values.pop("type")
        if (kind == Kind.HEADER) is not (number == 1):
            raise Malformed("a second header" if number > 1 else "the first line is not a header")
        if self.footer is not None:
            raise Malformed("a line follows the footer")
        match kind:
            case Kind.HEADER:
                self.header = header_from_dict(values)
            case Kind.EXCHANGE:
                self.exchanges[number] = ExchangeLine(
                    check=str(values.pop("check", "")), shown=as_value(Shown, values, "exchange")
                )
            case Kind.CHECK:
                self.checks[number] = as_value(CheckLine, values, "check")
            case Kind.FOOTER:
                self.footer = as_value(Footer, values, "footer")
            case _:
                raise Malformed("the line is neither header, exchange, check nor footer")


def read(path: Path) -> Record:
    """The record in a file, with all problems of its lines and of the chain."""
    try:
        raw = read_plain(path)
    except OSError as problem:
        raise Unreadable(path, f"cannot be read: {problem.strerror}") from None
    reading, before = _Reading(), START
    # Not splitlines: JSON may contain other line separators.
    lines = [part + b"\n" for part in raw.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        try:
            values = decode(line)
            if found := _unchained(values, number, before):
                reading.faults.append(Fault(line=number, text=found))
            reading.take(number, {key: value for key, value in values.items() if key not in {"n", "prev"}})
        except (NotALine, Malformed) as problem:
            torn = number == len(lines) and not line.endswith(b"\n")
            reading.faults.append(Fault(line=number, text=str(problem), torn=torn))
        before = link(line)
    if reading.header is None:
        why = reading.faults[0].text if reading.faults else "the file is empty"
        raise Unreadable(path, f"is not a record: {why}")
    return Record(
        header=reading.header,
        exchanges=reading.exchanges,
        checks=reading.checks,
        footer=reading.footer,
        digest=hashlib.sha256(raw).hexdigest(),
        lines=len(lines),
        faults=tuple(reading.faults),
    )


def result_of(record: Record) -> RunResult:
    """The result of the run; verdicts are computed again, not taken from the footer."""
    cut_short = INTERRUPTED if record.footer is None else record.footer.cut_short
    checks = results(record)
    judged = verdicts_of(record.header, checks, cut_short)
    took_s = round(sum(check.duration_s for check in checks), 3)
    return RunResult(
        role=record.header.role,
        verdict=judged.verdict,
        reason=judged.reason,
        rules=judged.rules,
        target=target_facts(record.header),
        run=run_facts(record.header, record.footer, record.digest, took_s, _waited_s(checks)),
    )


def _waited_s(checks: Sequence[CheckResult]) -> dict[str, float]:
    """How long all checks together waited, and for what."""
    found = sum((Counter(check.waited_s) for check in checks), Counter[str]())
    return {name: round(wait, 3) for name, wait in found.items()}


def results(record: Record) -> list[CheckResult]:
    """The results of the checks, in the order in which they ended."""
    return [
        CheckResult(
            id=line.id,
            rule=line.rule,
            verdict=line.verdict,
            reason=line.reason,
            message=line.message,
            expected=line.expected,
            got=line.got,
            blocking=line.blocking,
            duration_s=line.duration_s,
            waited_s=line.waited_s,
            observations=line.observations,
            faults=line.faults,
            replay=line.replay,
            picture=line.picture,
            # Ordinals count from zero, lines from one.
            exchanges=tuple(
                record.exchanges[ordinal + 1].shown
                for ordinal in line.exchanges
                if ordinal + 1 in record.exchanges
            ),
            guilty=line.guilty,
            scenario=line.scenario,
            public=line.public,
        )
        for line in record.checks.values()
    ]


def _unchained(values: dict[str, Any], number: int, before: str) -> str:
    """The problem with the line's position in the chain; empty if there is none."""
    ordinal = values.get("n")
    if type(ordinal) is not int or "type" not in values:
        raise Malformed("the line has no type or no number")
    if ordinal != number - 1:
        return f"was written as line {ordinal + 1}: lines were removed, added or moved"
    if values.get("prev") != before:
        return f"does not follow from line {number - 1}, which was changed after it was written"
    return ""
