"""A user whose name changes at the merchant."""

from __future__ import annotations

import time

from gateproof.conformance.checks.gateway._merchant_assertions import assertions_sent
from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S


@check("CLAIM-03", needs=["sign-in:browser", "merchant"])
def sub_stays_when_the_user_is_renamed(world: World) -> None:
    """A user whose names change at the merchant keeps their `sub`: the merchant's `sub` is the same.

    The e-mail address stays. A gateway may refuse the user after the change. Left out if the gateway gives
    its merchant the new name as the user's login: for it, this is another user.
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
    if subs[1] != subs[0] and _is_named_to_the_merchant(alone, after, name):
        raise LeftOut("the gateway gives its merchant the preferred_username as the user's login")
    expect.equal(subs[1], subs[0], "sub after the change")


def _is_named_to_the_merchant(alone: IsolatedUser, grant: Grant, name: str) -> bool:
    """True if an assertion names the user so; it may be sent after the sign-in."""
    deadline = time.monotonic() + PROVISIONING_S
    while True:
        sent = assertions_sent(alone, [grant])
        if any(each.claims.get("sub") == name for each in sent):
            return True
        if time.monotonic() > deadline:
            return False
        wait_for(Cause.REQUEST, 0.1)
