"""A merchant that sends a long Retry-After: requests to the gateway do not wait for its end.

The gateway may send this merchant no requests during that time, so recovery is not tested.
"""

from __future__ import annotations

from gateproof.conformance.checks.gateway._openid_sign_in import end_merchant_backoff
from gateproof.conformance.faults.merchant_answers import LONG_PAUSE_S, LONG_PAUSES, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.time_limits import SIGN_IN_S
from gateproof.conformance.wire.stopwatch import Stopwatch

FAULTS = ["faults"]


@check("VAULT-06", needs=FAULTS, alone=True, cases=LONG_PAUSES)
def long_pause_is_no_rejection(world: World, case: MerchantFault) -> None:
    """If the merchant answers with a Retry-After of a minute, redemption is answered in time, without 410."""
    due = failure_oracle.expiring_soon(isolated_user(world, own=True))
    try:
        failure_oracle.expire_under([(due, case)])

        answer = failure_oracle.redeem_and_count_fault(due, case)

        failure_oracle.no_false_rejection(due, answer, case.fault.does)
        failure_oracle.expect_not_expired(due, answer, case.fault.does)
    finally:
        end_merchant_backoff(due.alone)


@check("VAULT-10", needs=FAULTS, alone=True, cases=LONG_PAUSES)
def sign_in_does_not_wait_for_a_pause(world: World, case: MerchantFault) -> None:
    """If the merchant answers with a Retry-After of a minute at sign-in, a code comes before its end."""
    longest_s = world.gateway.wire.timeout_s + SIGN_IN_S
    if longest_s > LONG_PAUSE_S:
        raise LeftOut("with this request_timeout_s, a sign-in may wait for longer than the pause")
    # Without the fault, a sign-in ends with tokens.
    world.grant()
    alone = isolated_user(world, own=True)
    attempt = world.attempt(world.agents.new(), resource=alone.resource, user=alone.user)
    alone.script(provisioning=case.scripted())
    watch = Stopwatch(world.gateway.wire)
    try:
        visit = world.gateway.visit(attempt, wherever=True)

        took_s, code = watch.so_far_s(), visit.parameter("code")
        failure_oracle.wait_for_provisioning_fault(alone, case)
    finally:
        end_merchant_backoff(alone)
    expect.that(
        code is not None and took_s <= longest_s,
        f"sign-in while the merchant {case.fault.does}",
        expected=f"a code at the redirect URI, after {longest_s:.0f} s at most",
        got=f"{visit.outcome()} after {took_s:.0f} s",
    )
