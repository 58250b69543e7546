"""Legal agents that authorize again if the service says that a scope is missing."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer
from gateproof.reference.defects.agent.metadata_resources import as_challenge
from gateproof.reference.variants.variant import variant


def _stepping_up(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    return as_challenge(operation.operate(settings, ask, given))


VARIANTS = (
    variant(
        "follows-the-challenge-of-a-403: the agent follows the challenge of a 403 with insufficient_scope "
        "like that of a 401, and gets another token",
        operate=_stepping_up,
    ),
)
