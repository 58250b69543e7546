"""Generated sequences of merchant faults must not be treated as a rejection."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from gateproof.conformance.faults.merchant_answers import TROUBLE
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault
from gateproof.conformance.suite.generated_input import Draw

LONGEST_SEQUENCE = 6
# If the gateway's circuit breaker stays open for a while, each sequence takes long.
LONGEST_S = 120.0


@check("VAULT-06", needs=["faults", "examples"], alone=True)
def no_tape_of_troubles_is_a_rejection(world: World, draw: Draw) -> None:
    """A generated sequence of merchant failures causes no 410, and redemption works after the last.

    Each call of the gateway uses up one fault. A failing sequence is shrunk to the shortest one.
    """
    from hypothesis import strategies as st  # noqa: PLC0415 - loaded by those who generate

    if not world.clock.can_move():
        raise LeftOut("each sequence needs its own expiry, and the clock cannot be moved")
    until = math.inf if draw.campaign is not None else time.monotonic() + LONGEST_S
    refreshed: list[int] = []

    def holds(sequence: Sequence[str]) -> None:
        if time.monotonic() > until:
            return
        due = failure_oracle.expiring_soon(isolated_user(world, own=True))
        due.alone.short_lived(answers=[TROUBLE[name].scripted() for name in sequence])
        since = failure_oracle.last_of(due.alone)
        let_expire(world)
        for _ in sequence:
            answer = due.redeem_once()
            does = ", then ".join(TROUBLE[name].fault.does for name in sequence)
            failure_oracle.no_false_rejection(due, answer, does)
            failure_oracle.expect_not_expired(due, answer, does)
            if answer.status == 200:
                break
        # Requests with other grant types also use up faults of the sequence.
        came = [entry.outcome for entry in due.alone.journal() if entry.ordinal > since and entry.outcome]
        if not came:
            # The gateway did not need its merchant, or its circuit breaker was open: there was no fault.
            return
        refreshed.extend(entry.ordinal for entry in due.refreshes())
        counts = {name: came.count(TROUBLE[name].outcome) for name in sequence}
        for name in (each for each in counts if counts[each]) if any(counts.values()) else sequence[:1]:
            count_fault(TROUBLE[name].fault, counts[name])
        draw.maximize("retries", len(came))
        due.alone.short_lived()
        failure_oracle.redeems_again(due)

    draw.each(st.lists(st.sampled_from(sorted(TROUBLE)), min_size=1, max_size=LONGEST_SEQUENCE), holds)
    if not refreshed:
        raise LeftOut("the gateway used no refresh token when the merchant token had expired")
