"""Two honest merchants that give their keys the same key IDs."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.several_merchants import MerchantAccount, merchant_account, merchants
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut


@check("AUTHZ-01", needs=["control:create_resource", "merchant"])
def merchants_may_use_the_same_key_ids(world: World) -> None:
    """Users of two merchants get codes in turn, although the merchants' keys have the same key IDs.

    A key ID is unique within one key set only. The positive twin has merchants with different key IDs.
    """
    for one_seed in (False, True):
        with merchants(world, 2, one_seed=one_seed) as sites:
            one, other = (
                merchant_account(
                    world,
                    site,
                    login=f"{world.unique()}@merchant.example",
                    client_id=f"gateway-{world.unique()}",
                )
                for site in sites
            )
            for at in (one, other, one):
                visit = _visit(world, at)
                if one_seed:
                    code_came(visit, "sign-in at one of two merchants whose keys have the same key IDs")
                else:
                    require_code(world.gateway, visit)
            if not all(at.signed_in() for at in (one, other)):
                raise LeftOut("the gateway does not sign users in by OpenID Connect at a second merchant")


def _visit(world: World, at: MerchantAccount) -> Visit:
    """The user of this merchant signs in in a new browser."""
    return world.gateway.visit(world.attempt(resource=at.alone.resource, user=at.alone.user))
