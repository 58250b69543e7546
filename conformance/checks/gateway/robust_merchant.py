"""After a merchant that answered nonsense, redemption works again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._normal_flow import succeeds
from gateproof.conformance.faults.merchant_answers import ODD, MerchantFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import isolated_user, let_expire
from gateproof.conformance.kit.gateway.merchant_recovery import mended_now
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("ROBUST-02", needs=["merchant", "faults"], alone=True, cases=ODD)
def redemption_works_after_an_odd_answer(world: World, case: MerchantFault) -> None:
    """What the merchant sent in place of a token spoils nothing: redemption works, or a new sign-in mends it.

    Whether such an answer counts as a rejection is open, and so is whether a token in it counts as one.
    """
    due = failure_oracle.soon_due(isolated_user(world))
    failure_oracle.expire_under([(due, case)])
    failure_oracle.meets(due, case)
    due.alone.short_lived()
    recovery = mended_now(due.alone)
    let_expire(world)

    if failure_oracle.redeems_again_or_says_why(due).status == 410:
        succeeds(
            lambda: failure_oracle.mended_by_the_user(due),
            "redemption after a new authorization",
            recovery,
        )
