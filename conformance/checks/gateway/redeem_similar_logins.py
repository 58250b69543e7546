"""Two users with nearly the same login, and the merchant token that each of them has."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._similar_users import grants_of_similar_users
from gateproof.conformance.checks.gateway._token_owner import are_their_own
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.similar_logins import ALIKE
from gateproof.conformance.suite.check import check


@check("REDEEM-12", needs=["merchant"], cases=ALIKE)
def users_with_similar_logins_get_their_own(world: World, case: tuple[str, str]) -> None:
    """Users whose logins differ by case, a blank, a part or a Unicode form get their own tokens."""
    proxy_token = world.backend.proxy_token()
    grants = grants_of_similar_users(world, case, proxy_token)

    are_their_own(world, [(grant, proxy_token) for grant in (*grants, grants[0])])
