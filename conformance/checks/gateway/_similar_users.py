"""Two users of the merchant whose logins differ only slightly."""

from __future__ import annotations

import hashlib

from gateproof.conformance.kit.gateway.isolated_user import new_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.claims import LeftOut, Unavailable, Unmet
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.secret import Secret


def grants_of_similar_users(
    world: World, logins: tuple[str, str], proxy_token: Secret | None = None
) -> list[Grant]:
    """Tokens of one agent for each of two new users; with `proxy_token`, both have been redeemed.

    Left out if the gateway or the merchant does not accept such a login.
    """
    if world.merchant is None:
        raise Unavailable("merchant", "the harness's own merchant is not part of this run")
    name, agent = world.unique(), world.agents.new()
    users = [
        new_user(world, world.merchant, login.format(name=name, number=_number_of(name))) for login in logins
    ]
    try:
        grants = [world.grant(agent=agent, user=user) for user in users]
        for grant in grants:
            if proxy_token is not None:
                world.backend.require_redeemed(grant, proxy_token)
    except (Unmet, SignInFailed) as refusal:
        raise LeftOut("a user with such a login cannot sign in or redeem here") from refusal
    return grants


def _number_of(name: str) -> int:
    """A number of fifteen digits, derived from the name."""
    return 10**14 + int.from_bytes(hashlib.sha256(name.encode()).digest()) % (9 * 10**14)
