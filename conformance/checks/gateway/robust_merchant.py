"""Redemption recovers after odd answers of the merchant."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._normal_flow import succeeds
from gateproof.conformance.faults.merchant_answers import ODD, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire
from gateproof.conformance.kit.gateway.merchant_recovery import recovery_from_now
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("ROBUST-02", needs=["merchant", "faults"], alone=True, cases=ODD)
def redemption_works_after_an_odd_answer(world: World, case: MerchantFault) -> None:
    """After an odd answer of the merchant, redemption works, at the latest after a new sign-in.

    The gateway may treat such an answer as a rejection, and it may accept a token in it.
    """
    due = failure_oracle.expiring_soon(isolated_user(world, own=True))
    failure_oracle.expire_under([(due, case)])
    failure_oracle.redeem_and_count_fault(due, case)
    due.alone.short_lived()
    recovery = recovery_from_now(due.alone)
    let_expire(world)

    if failure_oracle.redeem_or_require_410(due).status == 410:
        succeeds(
            lambda: failure_oracle.redeem_after_new_authorization(due),
            "redemption after a new authorization",
            recovery,
        )
