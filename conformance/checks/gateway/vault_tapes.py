"""A merchant whose troubles come one after another, in an order that is drawn: it has rejected nothing."""

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

LONGEST_TAPE = 6
# A gateway that leaves its merchant in peace for a while makes each tape a long one.
LONGEST_S = 120.0


@check("VAULT-06", needs=["faults", "examples"], alone=True)
def no_tape_of_troubles_is_a_rejection(world: World, draw: Draw) -> None:
    """However often and in whatever order a refresh fails, no 410 comes, and after the last it works.

    Each call of the gateway uses one trouble up. The shortest tape that breaks it is the one that is told.
    """
    from hypothesis import strategies as st  # noqa: PLC0415 - loaded by those who generate

    if not world.clock.can_move():
        raise LeftOut("each tape needs an expiry of its own, and there is no clock to move")
    agent = world.agents.new()
    until = math.inf if draw.campaign is not None else time.monotonic() + LONGEST_S
    refreshed: list[int] = []

    def holds(tape: Sequence[str]) -> None:
        if time.monotonic() > until:
            return
        due = failure_oracle.soon_due(isolated_user(world), agent)
        due.alone.short_lived(answers=[TROUBLE[name].scripted() for name in tape])
        since = failure_oracle.last_of(due.alone)
        let_expire(world)
        for _ in tape:
            answer = due.redeem_once()
            does = ", then ".join(TROUBLE[name].fault.does for name in tape)
            failure_oracle.no_false_rejection(due, answer, does)
            failure_oracle.nothing_expired(due, answer, does)
            if answer.status == 200:
                break
        # Whatever grant a gateway tries besides meets the tape, too.
        came = [entry.outcome for entry in due.alone.journal() if entry.ordinal > since and entry.outcome]
        if not came:
            # It had no use for its merchant, or was spared: nothing happened that could be got over.
            return
        refreshed.extend(entry.ordinal for entry in due.refreshes())
        met = {name: came.count(TROUBLE[name].outcome) for name in tape}
        for name in (each for each in met if met[each]) if any(met.values()) else tape[:1]:
            count_fault(TROUBLE[name].fault, met[name])
        draw.toward("retries", len(came))
        due.alone.short_lived()
        failure_oracle.redeems_again(due)

    draw.each(st.lists(st.sampled_from(sorted(TROUBLE)), min_size=1, max_size=LONGEST_TAPE), holds)
    if not refreshed:
        raise LeftOut("the gateway used no refresh token when the merchant token was due")
