"""Checks that a record is consistent: its lines, plan, exchanges and footer agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gateproof.reports.failed_steps import AS_A_STEP
from gateproof.reports.findings import Concern, Finding
from gateproof.reports.record import FILE, Record, results
from gateproof.reports.run_result import INTERRUPTED, footer_of


def audit(record: Record) -> tuple[Finding, ...]:
    """Every inconsistency in a record, the most important first."""
    lines, end = tuple(_lines(record)), tuple(_end(record))
    # If a kill cut off the last line, the missing footer is the finding to show first.
    first = (*end, *lines) if all(fault.torn for fault in record.faults) else (*lines, *end)
    return (*first, *_plan(record), *_footer(record))


def _lines(record: Record) -> Iterator[Finding]:
    """Problems of the lines and of the chain."""
    for fault in record.faults:
        yield Finding(concern=Concern.RECORD, file=FILE, line=fault.line, text=fault.text)


def _end(record: Record) -> Iterator[Finding]:
    if record.footer is None:
        yield Finding(
            concern=Concern.INCOMPLETE, file=FILE, line=record.lines, text=f"incomplete: {INTERRUPTED}"
        )


def _plan(record: Record) -> Iterator[Finding]:
    """Differences between the plan, the checks and their exchanges."""
    rules = {rule.id: rule for rule in record.header.rules()}
    owner: dict[int, str] = {}
    for number, check in record.checks.items():
        rule = rules.get(check.rule)
        if rule is None or check.id not in (*rule.checks, f"{rule.id}/{AS_A_STEP}"):
            text = f"{check.id} was not planned"
            yield Finding(concern=Concern.COUNTS, file=FILE, line=number, text=text)
        elif (check.level, check.section) != (rule.level, rule.section):
            text = f"{check.id} has another level or section than its rule in the header"
            yield Finding(concern=Concern.COUNTS, file=FILE, line=number, text=text)
        for ordinal in check.exchanges:
            exchange = record.exchanges.get(ordinal + 1)
            if exchange is None or exchange.check != check.id or ordinal in owner:
                text = f"{check.id} names line {ordinal + 1}, which is not one of its exchanges"
                yield Finding(concern=Concern.COUNTS, file=FILE, line=number, text=text)
            owner[ordinal] = check.id
    for number, exchange in record.exchanges.items():
        if number - 1 not in owner and record.footer is not None:
            text = f"no check names this exchange of {exchange.check}"
            yield Finding(concern=Concern.COUNTS, file=FILE, line=number, text=text)


def _footer(record: Record) -> Iterator[Finding]:
    """Differences between the footer and the lines above it."""
    footer = record.footer
    if footer is None:
        return

    def wrong(text: str) -> Finding:
        return Finding(concern=Concern.COUNTS, file=FILE, line=record.lines, text=text)

    expected = footer_of(
        record.header, results(record), duration_s=footer.duration_s, cut_short=footer.cut_short
    )
    names = ("planned", "executed", "counts", "verdict", "reason")
    for name in names:
        said, counted = getattr(footer, name), getattr(expected, name)
        if said != counted:
            yield wrong(f"the footer says {name} {_plain(said)}, the lines give {_plain(counted)}")
    if expected.planned != expected.executed and not footer.cut_short:
        yield wrong(f"{expected.planned} checks were planned and {expected.executed} executed")


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
