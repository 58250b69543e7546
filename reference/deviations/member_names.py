"""JSON members that are found by their names in any case, as some libraries do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateproof.reference.gateway.policy.registration import RegistrationFacts


def last_in_any_case(facts: RegistrationFacts) -> RegistrationFacts:
    """The same registration with names in lower case; of several equal names, the last one counts."""
    if not isinstance(facts.metadata, Mapping):
        return facts
    folded: dict[str, Any] = {name.lower(): value for name, value in facts.metadata.items()}
    return replace(facts, metadata=folded)
