"""What a legal variant is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gateproof.reference.gateway.policies import Policies


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """Another legal choice: the policies that make it, and rules of level rfc that it breaks, if any.

    A service has it where its operation is called in this way.
    """

    name: str
    what: str
    rules: tuple[str, ...] = ()
    operation: Literal["http", "mcp"] = "http"
    choices: Mapping[str, Any] = field(repr=False)


def variant(name: str, what: str, rules: str = "", **choices: Any) -> Variant:
    """A variant with these policies; all the others are the reference's."""
    return Variant(name=name, what=what, rules=tuple(rules.split()), choices=choices)


def mcp_variant(name: str, what: str, **choices: Any) -> Variant:
    """A variant of a service that is an MCP server."""
    return replace(variant(name, what, **choices), operation="mcp")


def choices_of(variants: Iterable[Variant]) -> dict[str, Any]:
    """The choices of several variants at once; two that decide the same thing do not go together."""
    chosen: dict[str, Any] = {}
    for each in variants:
        twice = sorted(chosen.keys() & each.choices.keys())
        if twice:
            raise ValueError(f"{each.name} decides {', '.join(twice)}, and so does another variant")
        chosen.update(each.choices)
    return chosen


def together(variants: Iterable[Variant]) -> Policies:
    """The policies of a gateway that made all of these choices."""
    return replace(Policies(), **choices_of(variants))
