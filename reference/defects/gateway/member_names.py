"""Gateways that check one spelling of a member, and register the value of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.member_names import last_in_any_case
from gateproof.reference.gateway.policy import registration
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts
from gateproof.reference.ids import Ids

Read = Callable[[RegistrationFacts], RegistrationFacts]


def registered_as(read: Read) -> Callable[[RegistrationFacts, Ids, float], NewAgent]:
    """The checks have read the exact names; what is registered is read in this way."""
    return lambda facts, ids, now: registration.new_agent(read(facts), ids, now)


def first_in_any_case(facts: RegistrationFacts) -> RegistrationFacts:
    backwards = replace(facts, metadata=dict(reversed(facts.metadata.items())))
    return last_in_any_case(backwards)


DEFECTS = (
    defect(
        "last-spelling-registered (REG-06): The gateway checks redirect_uris, but registers the last member "
        "of that name in any case.",
        new_agent=registered_as(last_in_any_case),
    ),
    defect(
        "first-spelling-registered (REG-06): The gateway checks redirect_uris, but registers the first "
        "member of that name in any case.",
        new_agent=registered_as(first_in_any_case),
    ),
)
