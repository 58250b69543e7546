"""What a legal variant is, for each role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateproof.reference.deviations.deviation import Operation, parsed


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """Another legal choice: the policies that make it, and the rules of level rfc that it breaks, if any.

    A service has it when it is called by `operation`.
    """

    name: str
    what: str
    rules: tuple[str, ...] = ()
    operation: Operation = "http"
    choices: Mapping[str, Any] = field(repr=False)


def variant(row: str, **choices: Any) -> Variant:
    """A variant with these policies; all the others are the reference's."""
    name, rules, what = parsed(row)
    return Variant(name=name, what=what, rules=rules, choices=choices)


def mcp_variant(row: str, **choices: Any) -> Variant:
    """A variant of a service that is an MCP server."""
    return replace(variant(row, **choices), operation="mcp")


def choices_of(variants: Iterable[Variant]) -> dict[str, Any]:
    """The choices of several variants at once; two that decide the same thing do not go together."""
    chosen: dict[str, Any] = {}
    for each in variants:
        twice = sorted(chosen.keys() & each.choices.keys())
        if twice:
            raise ValueError(f"{each.name} decides {', '.join(twice)}, and so does another variant")
        chosen.update(each.choices)
    return chosen
