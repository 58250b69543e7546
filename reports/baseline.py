"""Known failures that are accepted until a date: they stay failed, and do not affect the verdict."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from gateproof.reports.verdicts import CheckResult, RuleResult, RunResult, Verdict, deciding_levels

_REQUIRED = ("rule", "reason", "expires")
_KEYS = (*_REQUIRED, "check")
_HOLDS = {Verdict.PASSED, Verdict.OBSERVED, Verdict.NOT_APPLICABLE}


class BaselineError(ValueError):
    """A baseline file is invalid; the text names file, entry, what was found and what was expected."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One accepted failure, up to and including the day on which it expires.

    `check` is a pattern of check IDs, in which `*` and `?` are special; without it all checks of the rule are
    accepted.
    """

    rule: str
    reason: str
    expires: str
    check: str = ""

    def covers(self, check: CheckResult) -> bool:
        return not self.check or _matches(self.check, check.id)

    def __str__(self) -> str:
        return f"{self.rule} ({self.check})" if self.check else self.rule


def parse(raw: bytes, file: str, known: Mapping[str, Collection[str]]) -> tuple[Entry, ...]:
    """The entries of a baseline file; `known` has the IDs of the checks of each rule."""
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
        if (entry.rule, entry.check) in {(earlier.rule, earlier.check) for earlier in entries[: number - 1]}:
            raise BaselineError(
                f"{file}: [[baseline]] number {number}: found {entry} again; expected it once"
            )
    return tuple(entries)


def apply(
    rules: Iterable[RuleResult], entries: Sequence[Entry], today: date
) -> tuple[tuple[RuleResult, ...], tuple[str, ...]]:
    """The rules with the listed failures marked, and a sentence for each stale or expired entry.

    A rule is marked if entries cover each of its failed checks. An expired entry covers nothing. An entry is
    stale if what it covers does not fail any more. If that was not tested or not selected, the entry is not
    stale, because nothing is known about it.
    """
    by_id = {rule.id: rule for rule in rules}
    expired = [entry for entry in entries if date.fromisoformat(entry.expires) < today]
    valid = [entry for entry in entries if entry not in expired]
    stale = [entry for entry in entries if entry.rule in by_id and _is_stale(entry, by_id[entry.rule])]
    marked = tuple(replace(rule, baselined=_reasons(rule, valid)) for rule in by_id.values())
    return marked, (
        *(f"the baseline lists {entry}, which no longer fails" for entry in stale),
        *(
            f"the baseline's entry for {entry} expired on {entry.expires}"
            for entry in expired
            if entry not in stale
        ),
    )


def file_of(result: RunResult, reason: str, expires: date) -> str:
    """A baseline file that accepts the deciding failures of a run, check by check."""
    levels = deciding_levels(strict=bool(result.run.get("strict")))
    entries = [
        f"[[baseline]]\nrule = {_toml(rule.id)}\ncheck = {_toml(check.id)}\n"
        f"reason = {_toml(' '.join(reason.split()))}\nexpires = {expires.isoformat()}\n"
        for rule in result.rules
        if rule.verdict is Verdict.FAILED and rule.level in levels
        for check in rule.checks
        if check.verdict is Verdict.FAILED
    ]
    return "\n".join(entries)


def _toml(text: str) -> str:
    """A basic string of TOML, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _reasons(rule: RuleResult, entries: Sequence[Entry]) -> str:
    """Why the failure of the rule is accepted; empty if it is not, or not as a whole."""
    if rule.verdict is not Verdict.FAILED:
        return ""
    own = [entry for entry in entries if entry.rule == rule.id]
    failed = [check for check in rule.checks if check.verdict is Verdict.FAILED]
    if not own or not all(any(entry.covers(check) for entry in own) for check in failed):
        return ""
    used = [entry for entry in own if not entry.check or any(map(entry.covers, failed))]
    return "; ".join(dict.fromkeys(entry.reason for entry in used))


def _is_stale(entry: Entry, rule: RuleResult) -> bool:
    if not entry.check:
        return rule.verdict in _HOLDS
    covered = [check.verdict for check in rule.checks if entry.covers(check)]
    if not covered:
        # For example the failure of a step, which is a check only where it failed.
        return rule.verdict in {*_HOLDS, Verdict.FAILED}
    return any(verdict in _HOLDS for verdict in covered) and Verdict.FAILED not in covered


def _matches(pattern: str, check_id: str) -> bool:
    """Matches like a shell, but treats brackets literally, because check IDs contain them."""
    special = {"*": ".*", "?": "."}
    expression = "".join(special.get(char) or re.escape(char) for char in pattern)
    return re.fullmatch(expression, check_id, re.DOTALL) is not None


def _entry(table: dict[str, Any], where: str, known: Mapping[str, Collection[str]]) -> Entry:
    for key in table:
        if key not in _KEYS:
            raise BaselineError(f"{where}: unknown key '{_shown(key)}'; {_nearest(key, _KEYS)}")
    for key in _REQUIRED:
        if key not in table:
            raise BaselineError(f"{where}: {key}: found nothing; expected {_EXPECTED[key]}")
    for key in ("rule", "reason", *(["check"] if "check" in table else [])):
        if not isinstance(table[key], str) or not table[key].strip():
            raise BaselineError(f"{where}: {key}: found {_kind(table[key])}; expected {_EXPECTED[key]}")
    if table["rule"] not in known:
        raise BaselineError(
            f"{where}: rule: found '{_shown(table['rule'])}', which is no rule; "
            + _nearest(table["rule"].upper(), tuple(known), otherwise="expected the ID of a rule")
        )
    checks = known[table["rule"]]
    if (pattern := table.get("check", "")) and not any(_matches(pattern, check_id) for check_id in checks):
        raise BaselineError(
            f"{where}: check: found '{_shown(pattern)}', which is no check of {table['rule']}; "
            + _nearest(pattern, tuple(checks), otherwise=f"expected {_EXPECTED['check']}")
        )
    return Entry(
        rule=table["rule"],
        check=pattern,
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
    "check": "a pattern of check IDs, such as 'REG-06/*'",
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
