"""The vault after a key rotation: it holds what was stored before."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.isolated_user import (
    expect_renewed,
    isolated_user,
    let_expire,
    redeem_past,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut


@check("VAULT-01", needs=["control:rotate_keys"], alone=True)
def token_from_before_a_rotation_is_refreshed(world: World) -> None:
    """A merchant token that was cached before a key rotation is refreshed at its expiry.

    A gateway that takes no access tokens from before the rotation is left out; KEYS-04 judges that.
    """
    alone = isolated_user(world)
    alone.short_lived()
    grant = alone.grant()
    token = world.backend.require_redeemed(grant, alone.proxy_token()).member("access_token")
    world.keys.rotate()
    let_expire(world)
    answer = redeem_past(world, grant, alone.proxy_token(), token)
    require_unexpired(world, grant, answer)
    if answer.status in (401, 403):
        raise LeftOut("the gateway redeems no access token from before the rotation")

    expect_renewed(answer, token)
