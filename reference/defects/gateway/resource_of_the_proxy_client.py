"""A gateway that looks the Resource up in the Proxy client's Project, too."""

from __future__ import annotations

from dataclasses import replace

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionFacts, same_project
from gateproof.reference.gateway.records import Grant, Resource, VaultKey
from gateproof.reference.outcomes import Refusal


def resource_of_either(facts: RedemptionFacts) -> Resource | None:
    """The Resource in the token's Project, else one with this indicator in the Proxy client's Project."""
    own = facts.proxy_token.project_id if facts.proxy_token is not None else None
    foreign = own if own != facts.project_id else None
    theirs = (
        each for each in facts.resources if (each.project_id, each.indicator) == (foreign, facts.indicator)
    )
    return redemption.redeemed_resource(facts) or next(theirs, None)


def resource_in_the_project(facts: RedemptionFacts) -> Refusal | None:
    """Compares the Proxy client's Project with that of the Resource."""
    resource, token = resource_of_either(facts), facts.proxy_token
    same = resource is not None and token is not None and token.project_id == resource.project_id
    return None if same else same_project(facts)


def vault_key_by_login(grant: Grant, resource: Resource) -> VaultKey:
    return replace(redemption.vault_key(grant, resource), sub="")


_CHECKS = instead(REDEMPTION_CHECKS, same_project, resource_in_the_project)

DEFECTS = (
    defect(
        "project-of-the-resource (REDEEM-05): The Proxy client's Project is compared with that of the "
        "Resource that the request names, not with that of the token.",
        redeemed_resource=resource_of_either,
        redemption_checks=_CHECKS,
        redemption_rechecks=_CHECKS,
        vault_key=vault_key_by_login,
    ),
)
