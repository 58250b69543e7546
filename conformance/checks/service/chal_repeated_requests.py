"""Requests without a token that have the identifier of an earlier request with one."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import USER, shows_orders
from gateproof.conformance.checks.service._repeated_requests import (
    IDENTIFIERS,
    called_without_token,
    identifier,
    served_with,
)
from gateproof.conformance.kit.service.service import Service, expect_challenge
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("CHAL-01", cases=IDENTIFIERS)
def request_without_a_token_is_no_repetition(service: Service, world: ServiceWorld, case: str) -> None:
    """Without a token, a request with the identifier of an earlier one with a good token is refused.

    A service may also refuse an identifier that it has seen before, with another 4xx status.
    """
    same = identifier(case)
    served_with(service, world, same)

    answer = called_without_token(service, world, same)
    if answer.status == 401:
        expect_challenge(answer)
    expect.that(
        answer.status is not None and 400 <= answer.status < 500 and not shows_orders(answer, world, USER),
        f"{answer.step} without a token, with the {case} of a call of {USER}",
        expected="the challenge",
        got=answer.outcome(),
        exchange=answer,
    )
