"""What a defect of the service is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gateproof.reference.service.policies import Policies


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceDefect:
    """One wrong decision of a service; of `rules`, the first is the one that it breaks.

    It shows where the service is called by this `operation`.
    """

    name: str
    what: str
    rules: tuple[str, ...]
    operation: Literal["http", "mcp"] = "http"
    policies: Policies = field(repr=False)


def defect(name: str, what: str, rules: str, **wrong: Any) -> ServiceDefect:
    """A defect in these policies; all the others stay honest."""
    policies = replace(Policies(), **wrong)
    return ServiceDefect(name=name, what=what, rules=tuple(rules.split()), policies=policies)


def mcp_defect(name: str, what: str, rules: str, **wrong: Any) -> ServiceDefect:
    """A defect that only an MCP service can have."""
    return replace(defect(name, what, rules, **wrong), operation="mcp")
