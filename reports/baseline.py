"""Known failures that are accepted until a date: they stay failed, and do not affect the verdict."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from gateproof.reports.verdicts import RuleResult, Verdict

_KEYS = ("rule", "reason", "expires")
_HOLDS = {Verdict.PASSED, Verdict.OBSERVED, Verdict.NOT_APPLICABLE}


class BaselineError(ValueError):
    """A baseline file is invalid; the text names file, entry, what was found and what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One accepted failure, up to and including the day on which it expires."""

    rule: str
    reason: str
    expires: str


def parse(raw: bytes, file: str, known: Collection[str]) -> tuple[Entry, ...]:
    """The entries of a baseline file; `known` are the IDs of all rules."""
    try:
        found = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BaselineError(f"{file}: found {problem}; expected TOML") from None
    for key in found:
        if key != "baseline":
            raise BaselineError(f"{file}: unknown key '{_shown(key)}'; expected [[baseline]] tables only")
    tables = found.get("baseline", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BaselineError(f"{file}: baseline: found {_kind(tables)}; expected [[baseline]] tables")
    entries = [
        _entry(table, f"{file}: [[baseline]] number {number}", known)
        for number, table in enumerate(tables, start=1)
    ]
    for number, entry in enumerate(entries, start=1):
        if entry.rule in {earlier.rule for earlier in entries[: number - 1]}:
            raise BaselineError(
                f"{file}: [[baseline]] number {number}: found {entry.rule} again; expected a rule once"
            )
    return tuple(entries)


def apply(
    rules: Iterable[RuleResult], entries: Sequence[Entry], today: date
) -> tuple[tuple[RuleResult, ...], tuple[str, ...]]:
    """The rules with the listed failures marked, and a sentence for each stale or expired entry.

    An expired entry covers nothing. An entry is stale if its rule does not fail any more. If the rule was not
    tested or not selected, the entry is not stale, because nothing is known about it.
    """
    expired = [entry for entry in entries if date.fromisoformat(entry.expires) < today]
    covering = {entry.rule: entry.reason for entry in entries if entry not in expired}
    rules = tuple(rules)
    healed = {rule.id for rule in rules if rule.verdict in _HOLDS}
    marked = tuple(
        replace(rule, baselined=covering[rule.id])
        if rule.verdict is Verdict.FAILED and rule.id in covering
        else rule
        for rule in rules
    )
    stale = [
        f"the baseline lists {entry.rule}, which no longer fails" for entry in entries if entry.rule in healed
    ]
    late = [
        f"the baseline's entry for {entry.rule} expired on {entry.expires}"
        for entry in expired
        if entry.rule not in healed
    ]
    return marked, (*stale, *late)


def _entry(table: dict[str, Any], where: str, known: Collection[str]) -> Entry:
    for key in table:
        if key not in _KEYS:
            raise BaselineError(f"{where}: unknown key '{_shown(key)}'; {_nearest(key, _KEYS)}")
    for key in _KEYS:
        if key not in table:
            raise BaselineError(f"{where}: {key}: found nothing; expected {_EXPECTED[key]}")
    for key in ("rule", "reason"):
        if not isinstance(table[key], str) or not table[key].strip():
            raise BaselineError(f"{where}: {key}: found {_kind(table[key])}; expected {_EXPECTED[key]}")
    if table["rule"] not in known:
        raise BaselineError(
            f"{where}: rule: found '{_shown(table['rule'])}', which is no rule; "
            + _nearest(table["rule"].upper(), tuple(known), otherwise="expected the ID of a rule")
        )
    return Entry(
        rule=table["rule"],
        reason=" ".join(table["reason"].split()),
        expires=_day(table["expires"], where).isoformat(),
    )


def _day(value: object, where: str) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise BaselineError(f"{where}: expires: found {_kind(value)}; expected {_EXPECTED['expires']}")


_EXPECTED = {
    "rule": "the ID of a rule",
    "reason": "why this failure is accepted",
    "expires": "a date without quotes, such as 2030-12-31",
}


def _kind(value: object) -> str:
    if value == "" or (isinstance(value, str) and not value.strip()):
        return "an empty string"
    names = {
        str: "a string",
        bool: "a boolean",
        list: "an array",
        dict: "a table",
        datetime: "a date with a time",
    }
    return names.get(type(value), "something else")


def _nearest(word: str, known: Sequence[str], otherwise: str = "") -> str:
    nearest = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean '{nearest[0]}'?" if nearest else otherwise or f"expected one of {', '.join(known)}"


def _shown(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:60])
