"""A user whose name changes at the merchant."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect


@check("CLAIM-03", needs=["sign-in:browser", "merchant"])
def sub_stays_when_the_user_is_renamed(world: World) -> None:
    """A user whose names change at the merchant keeps their `sub`: the merchant's `sub` is the same.

    The e-mail address stays. A gateway may refuse the user after the change.
    """
    alone, agent = openid_sign_in(world).alone, world.agents.new()
    before = alone.grant(agent)
    name = world.unique()
    said = {"preferred_username": name, "name": name, "nickname": name}
    alone.script(id_token=said, userinfo=said)
    try:
        after = alone.grant(agent)
    except (Unmet, SignInFailed) as refusal:
        raise LeftOut("the gateway does not let a renamed user sign in") from refusal

    subs = [claims_of(world, grant).get("sub") for grant in (before, after)]
    expect.equal(subs[1], subs[0], "sub after the change")
