"""Gateways that remember that there is no Resource with an indicator."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.records import Resource


def remembering(
    name_of: Callable[[RedemptionFacts], Hashable],
) -> Callable[[RedemptionFacts], Resource | None]:
    """A search without a result is not made again."""
    missing: set[Hashable] = set()

    def found(facts: RedemptionFacts) -> Resource | None:
        if name_of(facts) in missing:
            return None
        if all(each.indicator != facts.indicator for each in facts.resources):
            missing.add(name_of(facts))
        return redemption.redeemed_resource(facts)

    return found


DEFECTS = (
    defect(
        "missing-resource-remembered (REDEEM-01): The gateway remembers for ever that a Project has no "
        "Resource with an indicator.",
        redeemed_resource=remembering(lambda facts: (facts.project_id, facts.indicator)),
    ),
    defect(
        "missing-indicator-remembered (REDEEM-01): The gateway remembers for ever that no Resource of any "
        "Project has an indicator.",
        redeemed_resource=remembering(lambda facts: facts.indicator),
    ),
)
