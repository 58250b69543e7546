"""`gateproof doctor`: what will be testable at a target, and what would make the rest so."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.rules import Rule
    from conformance.target.model import Target

WRONG_USAGE = 2
NO_VERDICT = 3
_WIDTH = 100


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="connect to a target and say which rules will be testable",
        description="Connects to a target, runs no check, says what is testable and what is missing.",
    )
    parser.add_argument("--target", type=Path, required=True, metavar="FILE", help="the target file")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    from conformance import rules  # noqa: PLC0415 - these load HTTP and cryptography
    from conformance.run.prepare import CannotRun  # noqa: PLC0415
    from conformance.signin import check_usable  # noqa: PLC0415
    from conformance.target.errors import TargetError  # noqa: PLC0415
    from conformance.target.file import load  # noqa: PLC0415
    from conformance.target.model import GatewayTarget  # noqa: PLC0415

    try:
        target = load(arguments.target)
        if isinstance(target, GatewayTarget):
            check_usable(target)
    except TargetError as wrong:
        print(f"gateproof: {wrong}", file=sys.stderr)
        return WRONG_USAGE
    try:
        name, offered, missing = _connect(target)
    except CannotRun as reason:
        print(f"gateproof: {reason}", file=sys.stderr)
        return NO_VERDICT
    prospects = [
        _prospect(rule, target.role, offered, missing) for rule in rules.load().for_role(target.role)
    ]
    if arguments.json:
        print(json.dumps({"target": name, "role": target.role, "rules": prospects}, indent=2))
    else:
        _print(name, target.role, prospects)
    return 0


def _connect(target: Target) -> tuple[str, frozenset[str], Mapping[str, str]]:
    """The target's name and what it offers; it is started where it has to be, asked once, and stopped."""
    from conformance.run.prepare import prepare  # noqa: PLC0415
    from conformance.run.session import workplace  # noqa: PLC0415
    from conformance.target.model import GatewayTarget  # noqa: PLC0415

    if not isinstance(target, GatewayTarget):
        return target.name, frozenset(), {}
    with workplace() as (folder, stack):
        prepared = prepare(target, folder, 0, stack)
        return prepared.name, prepared.context.capabilities, prepared.context.missing


def _prospect(rule: Rule, role: str, offered: frozenset[str], missing: Mapping[str, str]) -> dict[str, Any]:
    from conformance.checks import index  # noqa: PLC0415
    from conformance.rules import unmet  # noqa: PLC0415

    checks = index(role).get(rule.id, ())
    if not checks:
        return {
            "id": rule.id,
            "level": rule.level,
            "testable": False,
            "reason": "no check exists yet",
            "parts": [],
        }
    lacking = [_reason(group, missing) for group in rule.unmet(offered)]
    parts = {group for check in checks for group in unmet(tuple((need,) for need in check.needs), offered)}
    return {
        "id": rule.id,
        "level": rule.level,
        "testable": not lacking,
        "reason": "; ".join(lacking),
        "parts": sorted(_reason(group, missing) for group in parts),
    }


def _reason(group: Sequence[str], missing: Mapping[str, str]) -> str:
    return ", or ".join(missing.get(need, f"needs {need}") for need in group)


def _print(name: str, role: str, prospects: Sequence[dict[str, Any]]) -> None:
    testable = [prospect["id"] for prospect in prospects if prospect["testable"]]
    print(f"{name} answers; as {role}, {len(testable)} of {len(prospects)} rules will be tested")
    _groups(
        "not testable",
        {prospect["id"]: prospect["reason"] for prospect in prospects if not prospect["testable"]},
    )
    _groups(
        "tested, but for a part",
        {
            prospect["id"]: "; ".join(prospect["parts"])
            for prospect in prospects
            if prospect["testable"] and prospect["parts"]
        },
    )
    print(
        textwrap.fill(
            ", ".join(testable) or "none", _WIDTH, initial_indent="testable: ", subsequent_indent="  "
        )
    )


def _groups(heading: str, reasons: Mapping[str, str]) -> None:
    by_reason: dict[str, list[str]] = {}
    for rule_id, reason in reasons.items():
        by_reason.setdefault(reason, []).append(rule_id)
    if by_reason:
        print(f"{heading} ({len(reasons)}):")
    for reason, ids in by_reason.items():
        text = f"{', '.join(ids)}: {reason}"
        print(
            textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        )
