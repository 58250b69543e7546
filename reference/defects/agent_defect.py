"""What a defect of the agent is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from gateproof.reference.agent.policies import Policies


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentDefect:
    """One wrong decision of an agent; of `rules`, the first is the one that it breaks."""

    name: str
    what: str
    rules: tuple[str, ...]
    policies: Policies = field(repr=False)


def defect(name: str, what: str, rules: str, **wrong: Any) -> AgentDefect:
    """A defect in these policies; all the others stay honest."""
    policies = replace(Policies(), **wrong)
    return AgentDefect(name=name, what=what, rules=tuple(rules.split()), policies=policies)
