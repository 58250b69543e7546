"""What the service does after it has answered a call in time."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._failing_parties import (
    MOST_TRIES,
    USER,
    expect_recovered,
    fault,
    new_tokens_of,
    require_works,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import count_fault, expect, observe, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.fakes.gateway.script import Answer, Endpoint

# The wait ends when the service has made no redemption for QUIET_S, and after LONGEST_S in any case.
QUIET_S, LONGEST_S = 3.0, 15.0
_PAUSE_S = 0.1


@check("BACK-06", needs=["faults"])
def failed_redemption_is_not_tried_for_ever_behind_the_answer(service: Service, world: ServiceWorld) -> None:
    """After the answer to a call whose redemption fails with 500, the service retries few times."""
    token = world.unseen_token(USER)
    tries = _tries(service, world, Answer(status=500), token)

    count_fault(fault(Endpoint.REDEMPTION, "500"), tries)
    _few(tries, "500")
    expect_recovered(service, world)


@check("BACK-07")
def refused_redemption_is_not_tried_for_ever_behind_the_answer(service: Service, world: ServiceWorld) -> None:
    """After the answer to a call whose redemption is refused with 410, the service retries few times."""
    subject = unseen_subject()
    refusal = Answer(status=410, members={"error": "reauthentication_required"})
    tries = _tries(service, world, refusal, world.gateway.access_token(USER, sub=subject))

    _few(tries, "410")
    expect_recovered(service, world, failed=new_tokens_of(world, subject))


def _tries(service: Service, world: ServiceWorld, answer: Answer, token: str) -> int:
    """How often the service redeems this token while redemption has this answer, up to a limit."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    require_works(service, world)
    gateway.script.always(Endpoint.REDEMPTION, answer)
    service.serve_once(token)
    begun, before, since = time.monotonic(), -1, time.monotonic()
    while True:
        tries = sum(token in call.text() for call in gateway.journal.since(mark, Endpoint.REDEMPTION))
        now = time.monotonic()
        if tries != before:
            before, since = tries, now
        if tries > MOST_TRIES or now - since > QUIET_S or now - begun > LONGEST_S:
            break
        wait_for(Cause.REQUEST, _PAUSE_S)
    gateway.script.clear()
    require.that(tries > 0, "operation of a user who is new", expected="a redemption", got="none")
    return tries


def _few(tries: int, status: str) -> None:
    observe(tries=tries)
    expect.that(
        tries <= MOST_TRIES,
        f"redemptions for one operation, which are answered {status}, until some time after its answer",
        expected=f"{MOST_TRIES} at most",
        got=f"{tries}",
    )
