"""The tables of pages that list what the code defines: faults, outputs, options, rules and more."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

from gateproof.conformance.checks import index
from gateproof.conformance.cli import COMMANDS
from gateproof.conformance.cli.rules_list import needs_text
from gateproof.conformance.faults.catalogue import EVERY
from gateproof.conformance.run.proof.implementations import subjects
from gateproof.conformance.suite import rules, statements
from gateproof.conformance.suite.proven import proven
from gateproof.reports.formats import FORMATS, Format

# Details that stand on other pages.
SEE = {
    "json": "; the schema is `reports/schemas/report-1.schema.json`",
    "pictures": "; see [chromium.md](chromium.md)",
}
# Pythons before 3.13 add this to the help of an option with a --no- form.
ADDED_BY_ARGPARSE = " (default: %(default)s)"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    text = "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)
    return text.replace("|  |", "| |").replace("| --- |", "|---|").replace(" --- |", "---|")


def faults() -> str:
    head = ("fault", "layer", "hop", "what goes wrong", "what the gateway must still do")
    return markdown(head, ((each.name, each.layer, each.hop, each.does, each.holds) for each in EVERY))


def outputs() -> str:
    head = ("format", "files", "default", "purpose")
    rows = (
        (f"`{name}`", f"`{_files(row)}`", "yes" if row.default else "", row.what + SEE.get(name, ""))
        for name, row in FORMATS.items()
    )
    return markdown(head, rows)


def _files(row: Format) -> str:
    """The pattern of its files; for a format with several, their folder."""
    return row.owns[0] if len(row.owns) == 1 else row.owns[0].partition("/")[0] + "/"


def options() -> str:
    """One table for each command."""
    parser = argparse.ArgumentParser(prog="gateproof")
    commands = parser.add_subparsers()
    for command in COMMANDS:
        command.add_parser(commands)
    parts = (
        f"## {name}\n\n{purpose[:1].upper()}{purpose[1:]}."
        + (f"\n\n{markdown(('argument', 'meaning'), rows)}" if (rows := list(_arguments(each))) else "")
        for name, purpose, each in _commands(commands, "gateproof")
    )
    return "\n\n".join(parts)


def _commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], before: str
) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """Each command with its purpose; for one that has commands of its own, those."""
    purposes = {action.dest: action.help or "" for action in commands._choices_actions}  # noqa: SLF001 - as below
    for name, parser in commands.choices.items():
        own = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001
        if own:
            yield from _commands(own[0], f"{before} {name}")
        else:
            yield f"{before} {name}", purposes[name], parser


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public list of them
        if action.dest != "help" and action.help != argparse.SUPPRESS:
            text = (action.help or "").removesuffix(ADDED_BY_ARGPARSE)
            yield _spelled(action), text % {**vars(action), "prog": parser.prog}


def _spelled(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    if not action.option_strings:
        return f"`{value}`"
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings)


def the_rules() -> str:
    head = ("rule", "level", "judges", "what it says", "needs")
    rows = (
        (each.id, each.level, ", ".join(each.roles), each.title, ", ".join(needs_text(each.needs)))
        for each in rules.load().values()
    )
    return markdown(head, rows)


def coverage() -> str:
    """One table for each section of the specification."""
    found: dict[str, list[Sequence[str]]] = {}
    for each in statements.load().every:
        number, asked = str(each.number), ", ".join(each.rules) or f"*{each.why}*"
        found.setdefault(each.section, []).append((number, each.says, asked, *_counted(each)))
    head = ("", "statement", "rules", "checks", "defects")
    parts = (f"## {section}\n\n{markdown(head, rows)}" for section, rows in found.items())
    return "\n\n".join(parts)


def _counted(statement: statements.Statement) -> tuple[str, str]:
    """How many cases of checks its rules have, and how many defects one of them caught."""
    if not statement.rules:
        return "", ""
    asked = [(role, rule_id) for rule_id in statement.rules for role in rules.load()[rule_id].roles]
    cases = (
        case for role, rule_id in asked for check in index(role).get(rule_id, ()) for case in check.ids()
    )
    defects = (caught.name for role, rule_id in asked for caught in proven(role).caught_by(rule_id))
    return str(len(set(cases))), str(len(set(defects)))


def variants(role: str) -> str:
    rows = ((f"`{each.name}`", each.what) for each in subjects(role) if each.kind == "variant")
    return markdown(("variant", "what it does"), rows)
