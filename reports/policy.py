"""The requirements of the receiver of a run, as a file: `gateproof verify --policy FILE`."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateproof.reports import expectations
from gateproof.reports.expectations import Expectation, WrongExpectation
from gateproof.reports.summary_texts import is_partial
from gateproof.reports.verdicts import RunResult

_KEY_ID = re.compile(r"[0-9a-f]{64}")


class PolicyError(ValueError):
    """The file is no policy; the text names the line, what was found and what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Demand:
    """One line of a policy."""

    key: str
    value: Any
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """All lines of a policy, in their order."""

    file: str
    demands: tuple[Demand, ...]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_key_ids(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_KEY_ID.fullmatch(str(each)) for each in value)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


# For each key, the expected value in words, and its test.
_SHAPES: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("verdict", "role", "target", "version", "requirements"), ("a text", _is_text)),
    **dict.fromkeys(("certify", "strict", "faults"), ("true or false", _is_switch)),
    "max-age": ("a text such as 30d", _is_text),
    "signers": ("a list of SHA-256 of public keys", _are_key_ids),
    "whole": ("true or false", _is_switch),
    "baselined": ("the greatest number of failures that a baseline may excuse", _is_count),
    "examples": ("the smallest number of generated examples for a rule", _is_count),
}


def parse(text: str, file: str) -> Policy:
    """The policy in a TOML text; raises PolicyError."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise PolicyError(f"{file}: {wrong}") from None
    demands = tuple(Demand(key=key, value=value, line=_line_of(key, text)) for key, value in document.items())
    for each in demands:
        _refuse_wrong(each, file)
    return Policy(file=file, demands=demands)


def _refuse_wrong(demand: Demand, file: str) -> None:
    where = f"{file}:{demand.line}: {demand.key}"
    if demand.key not in _SHAPES:
        near = difflib.get_close_matches(demand.key, _SHAPES, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PolicyError(f"{where}: expected one of {', '.join(_SHAPES)}{hint}")
    expected, fits = _SHAPES[demand.key]
    if not fits(demand.value):
        raise PolicyError(f"{where}: found {demand.value!r}, expected {expected}")
    if demand.key == "max-age":
        try:
            expectations.parse(f"max-age={demand.value}")
        except WrongExpectation:
            raise PolicyError(f"{where}: found {demand.value!r}, expected {expected}") from None


def violations(policy: Policy, result: RunResult, signer: str, now: datetime) -> Iterator[str]:
    """A sentence for each line that the run violates; `signer` is the SHA-256 of the key of its seal."""
    for each in policy.demands:
        if found := _violated(each, result, signer, now):
            yield f"{policy.file}:{each.line}: {each.key}: {found}"


def _violated(demand: Demand, result: RunResult, signer: str, now: datetime) -> str:
    value = demand.value
    if demand.key in expectations.KEYS:
        said = str(value).lower() if isinstance(value, bool) else str(value)
        return next(expectations.unmet(result, [Expectation(key=demand.key, value=said)], now), "")
    if demand.key == "signers":
        return "" if signer in value else f"signed by {signer or 'nobody'}, which is not listed"
    if demand.key == "whole":
        found = "a part of the rules" if is_partial(result) else "all rules"
        return "" if is_partial(result) is not value else f"expected {str(value).lower()}, found {found}"
    if demand.key == "baselined":
        excused = sum(bool(rule.baselined) for rule in result.rules)
        return "" if excused <= value else f"expected at most {value}, found {excused}"
    examples = result.run.get("examples") or 0
    return "" if examples >= value else f"expected at least {value}, found {examples}"


def _line_of(key: str, text: str) -> int:
    pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
    return next((number for number, line in enumerate(text.splitlines(), 1) if pattern.match(line)), 1)
