"""Other legal ways to read the members of a registration."""

from __future__ import annotations

from gateproof.reference.deviations.member_names import last_in_any_case
from gateproof.reference.gateway.policy import registration
from gateproof.reference.gateway.policy.registration import RegistrationCheck
from gateproof.reference.variants.variant import variant


def _after_reading(check: RegistrationCheck) -> RegistrationCheck:
    return lambda facts: check(last_in_any_case(facts))


VARIANTS = (
    variant(
        "members-in-any-case: members of a registration are found by their names in any case, and the last "
        "one is checked and registered",
        registration_checks=tuple(map(_after_reading, registration.REGISTRATION_CHECKS)),
        new_agent=lambda facts, ids, now: registration.new_agent(last_in_any_case(facts), ids, now),
    ),
)
