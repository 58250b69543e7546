"""Requests of two users with the same identifier, by which a service may know a repeated request."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.checks.service._repeated_requests import (
    IDENTIFIERS,
    called,
    identifier,
    served_with,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("BACK-10", cases=IDENTIFIERS)
def request_of_another_user_is_no_repetition(service: Service, world: ServiceWorld, case: str) -> None:
    """A user whose request has the identifier of another user's request does not get that user's orders."""
    same = identifier(case)
    served_with(service, world, same)

    answer = called(service, world.unseen_token(OTHER), same)
    expect.that(
        not shows_orders(answer, world, USER),
        f"a call of {OTHER} with the {case} of a call of {USER}",
        expected="only their own orders, or a refusal",
        got="orders of the other",
        exchange=answer,
    )
