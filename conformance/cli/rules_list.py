"""`gateproof list`: the rules in a table, or as JSON for programs."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from gateproof.conformance.suite.rules import Needs, Rule, UnknownRuleError, load, select
from gateproof.conformance.suite.vocabulary import FAMILIES, LEVELS, ROLES, STEPS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name

WIDTH = 100
_NARROW, _NARROWEST = 90, 40
_ID, _LEVEL, _NEEDS, _GAP = 10, 8, 33, 2
_STEP = max(map(len, STEPS))


def add_parser(subparsers: Subparsers) -> None:
    """Declares the command."""
    parser = subparsers.add_parser("list", help="show the rules", description="Show the rules.")
    parser.add_argument("role", nargs="?", choices=ROLES, help="only the rules that judge this role")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="only these rule IDs")
    parser.add_argument("--skip", action="append", default=[], metavar="GLOB", help="not these rule IDs")
    parser.add_argument(
        "--steps", action="store_true", help="the steps that checks build on, and the rule of each"
    )
    parser.add_argument("--json", action="store_true", help="an array of objects in place of the table")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Prints the selected rules; a pattern that matches none of them is wrong usage."""
    catalogue = load()
    rules = catalogue.for_role(args.role) if args.role else tuple(catalogue.values())
    try:
        chosen = select(rules, args.only, args.skip)
    except UnknownRuleError as problem:
        command = f"gateproof list {args.role}" if args.role else "gateproof list"
        print(f"{command}: {problem}", file=sys.stderr)
        return 2
    if args.steps:
        print("\n".join(steps(chosen)))
    elif args.json:
        print(json.dumps([as_json(rule) for rule in chosen], indent=2))
    else:
        print("\n".join(table(chosen, width=_width(), bold=_bold())))
    return 0


def as_json(rule: Rule) -> dict[str, object]:
    """A rule for --json; alternative needs are nested lists."""
    return {
        "id": rule.id,
        "level": rule.level,
        "roles": list(rule.roles),
        "needs": [group[0] if len(group) == 1 else list(group) for group in rule.needs],
        "title": rule.title,
        "section": rule.section,
        **({"steps": list(rule.steps)} if rule.steps else {}),
    }


def steps(rules: Iterable[Rule]) -> Iterator[str]:
    """The steps that these rules own, and what each step is."""
    for rule in rules:
        for step in rule.steps:
            yield f"{rule.id:{_ID}}  {step:{_STEP}}  {STEPS[step]}"


def needs_text(needs: Needs) -> list[str]:
    """One phrase for each need; alternatives are joined by `or`."""
    return [" or ".join(group) for group in needs]


def table(rules: Sequence[Rule], *, width: int, bold: bool = False) -> Iterator[str]:
    """The rules under the headings of their families, as lines that fit the width."""
    on, off = ("\033[1m", "\033[0m") if bold else ("", "")
    row = _stacked if width < _NARROW else _columns
    for family, members in groupby(rules, key=lambda rule: rule.family):
        yield from (f"{on}{line}{off}" for line in wrap(FAMILIES[family], width))
        for rule in members:
            yield from row(rule, width)
        yield ""
    yield from wrap(_total(rules), width)


def _columns(rule: Rule, width: int) -> Iterator[str]:
    title_width = width - _ID - _LEVEL - _NEEDS - 3 * _GAP
    titles = wrap(rule.title, title_width if rule.needs else title_width + _GAP + _NEEDS)
    needs = [line for need in needs_text(rule.needs) for line in _wrapped_need(need)]
    for number, (title, need) in enumerate(zip_longest(titles, needs, fillvalue="")):
        first, second = (rule.id, rule.level) if number == 0 else ("", "")
        yield f"{first:{_ID}}  {second:{_LEVEL}}  {title:{title_width}}  {need}".rstrip()


def _stacked(rule: Rule, width: int) -> Iterator[str]:
    titles = wrap(rule.title, width - _ID - _LEVEL - 2 * _GAP)
    for number, title in enumerate(titles):
        first, second = (rule.id, rule.level) if number == 0 else ("", "")
        yield f"{first:{_ID}}  {second:{_LEVEL}}  {title}"
    if rule.needs:
        needs = "needs " + ", ".join(needs_text(rule.needs))
        yield from wrap(needs, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _wrapped_need(need: str) -> list[str]:
    return wrap(need, _NEEDS, subsequent_indent="  ", break_on_hyphens=False)


def _total(rules: Iterable[Rule]) -> str:
    levels = [rule.level for rule in rules]
    counted = ", ".join(f"{levels.count(level)} {level}" for level in LEVELS if level in levels)
    return f"{len(levels)} {'rule' if len(levels) == 1 else 'rules'}: {counted}" if levels else "no rules"


def _width() -> int:
    if not sys.stdout.isatty():  # piped output looks the same on every machine
        return WIDTH
    return max(_NARROWEST, min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH))


def _bold() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
