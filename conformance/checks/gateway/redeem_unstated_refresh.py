"""`expires_at` after a refresh for which the merchant stated no `expires_in`."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._unstated_refresh import refreshed_without_a_life
from gateproof.conformance.checks.gateway.redeem_no_lifetime import is_not_over
from gateproof.conformance.kit.gateway.isolated_user import require_renewed
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("REDEEM-16", alone=True)
def unstated_life_of_a_refresh_has_not_ended(world: World) -> None:
    """`expires_at` of a token that was refreshed without `expires_in` is absent or not in the past."""
    _, expired, answers = refreshed_without_a_life(world)
    for answer in answers:
        require_renewed(answer, expired)

        is_not_over(world, answer)
