"""`gateproof explain RULE`: one rule in full."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from textwrap import indent, wrap
from typing import TYPE_CHECKING

from gateproof.conformance.suite import statements
from gateproof.conformance.suite.proven import proven
from gateproof.conformance.suite.recipe_variables import variables
from gateproof.conformance.suite.rules import Needs, Rule, UnknownRuleError, load
from gateproof.conformance.suite.vocabulary import LEVELS, NEEDS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name

_WIDEST, _NARROWEST = 88, 30


def add_parser(subparsers: Subparsers) -> None:
    """Declares the command."""
    parser = subparsers.add_parser(
        "explain",
        help="show one rule in full",
        description="Show one rule in full: what must hold, why, its section, how it is checked, "
        "and how to check it by hand.",
    )
    parser.add_argument("rule", metavar="RULE", help="a rule ID such as REDEEM-05, in any case")
    parser.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    """Prints the rule; an unknown ID is wrong usage."""
    try:
        rule = load().named(args.rule)
    except UnknownRuleError as problem:
        print(f"gateproof explain: {problem}", file=sys.stderr)
        return 2
    columns = shutil.get_terminal_size((_WIDEST, 24)).columns
    print("\n".join(page(rule, width=max(_NARROWEST, min(columns, _WIDEST)))))
    return 0


def page(rule: Rule, *, width: int) -> Iterator[str]:
    """The rule as lines; prose is wrapped, commands are not, so that they can be copied."""
    yield from wrap(f"{rule.id}  {rule.title}", width, subsequent_indent=" " * (len(rule.id) + 2))
    yield ""
    yield from _fact("level", f"{rule.level}: {LEVELS[rule.level]}", width)
    yield from _fact("judges", ", ".join(rule.roles), width)
    yield from _fact("needs", _needs(rule.needs) or "nothing beyond the endpoints", width)
    if rule.optional_needs:
        yield from _fact("in full", f"with {_needs(rule.optional_needs)}", width)
    yield from _fact("section", rule.section, width)
    if rule.standard:
        yield from _fact("standard", rule.standard, width)
    yield from _stated(rule, width)
    for heading, text in (
        ("What must hold", rule.holds),
        ("Why", rule.why),
        ("How it is checked", rule.how),
        ("If a service fails it", rule.next_step),
    ):
        if not text:
            continue
        yield ""
        yield heading
        yield from wrap(text, width, initial_indent="  ", subsequent_indent="  ")
    yield from _seen(rule, width)
    yield ""
    yield "By hand"
    yield indent(rule.by_hand, "  ")
    meanings = variables(rule.by_hand)
    if "curl " in rule.by_hand and "CA_FILE" not in meanings:
        meanings["CURL_CA_BUNDLE"] = (
            "exported, for curl itself: ca_file of the target file, where there is one"
        )
    if meanings:
        yield ""
        yield "  where"
        for name, meaning in meanings.items():
            yield from wrap(f"${name}: {meaning}", width, initial_indent="    ", subsequent_indent="      ")


def _stated(rule: Rule, width: int) -> Iterator[str]:
    """The statements that lead to this rule, and where the specification has them."""
    yield ""
    yield "What leads to it"
    for each in statements.load().of_rule(rule.id):
        where = f"{each.section}, {each.number}" if each.stated else "stated nowhere"
        yield from wrap(f"{each.says} ({where})", width, initial_indent="  ", subsequent_indent="    ")


def _seen(rule: Rule, width: int) -> Iterator[str]:
    """The defects that this rule caught in the shipped proof; a rule that is never judged has none."""
    caught = [defect for role in rule.roles for defect in proven(role).caught_by(rule.id)]
    if caught:
        yield ""
        yield "Seen catching"
    for defect in caught:
        yield from wrap(f"{defect.name}: {defect.what}", width, initial_indent="  ", subsequent_indent="    ")


def _needs(needs: Needs) -> str:
    return "; ".join(" or ".join(f"{NEEDS[need]} ({need})" for need in group) for group in needs)


def _fact(name: str, text: str, width: int) -> list[str]:
    margin = f"{name:10}"
    return wrap(margin + text, width, subsequent_indent=" " * len(margin), break_on_hyphens=False)
