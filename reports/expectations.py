"""The expectations of the receiver of a run: `gateproof verify --expect KEY=VALUE`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gateproof.reports.verdicts import RunResult

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SWITCHES = ("certify", "strict", "faults")
KEYS = ("verdict", "role", "target", "version", *_SWITCHES, "requirements", "max-age")


class WrongExpectation(ValueError):
    """An expectation is malformed; the text says what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """One property of a run, and the value that it has to have."""

    key: str
    value: str


def parse(text: str) -> Expectation:
    """The expectation in `KEY=VALUE`."""
    key, sign, value = text.partition("=")
    if not sign or key not in KEYS:
        near = difflib.get_close_matches(key, KEYS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise WrongExpectation(f"--expect {text}: expected KEY=VALUE with one of {', '.join(KEYS)}{hint}")
    if key in _SWITCHES and value not in {"true", "false"}:
        raise WrongExpectation(f"--expect {text}: expected true or false")
    if key == "max-age":
        _age(value)
    return Expectation(key=key, value=value)


def unmet(result: RunResult, expected: Iterable[Expectation], now: datetime) -> Iterator[str]:
    """A sentence for each expectation that the run does not meet."""
    for each in expected:
        if each.key == "max-age":
            started = datetime.fromisoformat(str(result.run["started"]))
            age = now.astimezone(UTC) - started.astimezone(UTC)
            # A run with a date in the future does not count as recent.
            if not timedelta(days=-1) <= age <= _age(each.value):
                yield f"expected a run of the last {each.value}, found one of {started.isoformat()}"
        elif (found := _found(result, each.key)) != each.value:
            yield f"expected {each.key} {each.value}, found {found or 'none'}"


def _found(result: RunResult, key: str) -> str:
    if key == "verdict":
        return result.verdict.value
    if key == "role":
        return result.role
    if key in {"target", "version"}:
        return str(result.target.get("name" if key == "target" else key, ""))
    value = result.run.get(key)
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"(\d{1,5})([mhdw])", text)
    if found is None:
        raise WrongExpectation(f"--expect max-age={text}: expected a number and m, h, d or w, such as 30d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
