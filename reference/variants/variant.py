"""The type of legal variants, for all roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateproof.reference.deviations.deviation import Operation, parsed


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """Another legal choice: its policies, and the rules of level rfc that it breaks, if any.

    For services, `operation` says how the service is called.
    """

    name: str
    what: str
    rules: tuple[str, ...] = ()
    operation: Operation = "http"
    choices: Mapping[str, Any] = field(repr=False)


def variant(row: str, **choices: Any) -> Variant:
    """A variant with these policies; all others are the reference's."""
    name, rules, what = parsed(row)
    return Variant(name=name, what=what, rules=rules, choices=choices)


def mcp_variant(row: str, **choices: Any) -> Variant:
    """A variant of a service that is an MCP server."""
    return replace(variant(row, **choices), operation="mcp")


def choices_of(variants: Iterable[Variant]) -> dict[str, Any]:
    """The choices of several variants together; two variants must not make the same choice."""
    chosen: dict[str, Any] = {}
    for each in variants:
        twice = sorted(chosen.keys() & each.choices.keys())
        if twice:
            raise ValueError(f"{each.name} decides {', '.join(twice)}, and so does another variant")
        chosen.update(each.choices)
    return chosen
