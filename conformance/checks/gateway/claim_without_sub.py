"""Users for whom the merchant names no `sub`."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._openid_sign_in import SecondSignIn, openid_sign_in
from gateproof.conformance.checks.gateway._tokens import claims_of
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect


@check("CLAIM-03", needs=["sign-in:browser", "merchant", "users:2"])
def users_without_a_sub_at_the_merchant_are_not_one(world: World) -> None:
    """Two users get no code, or two `sub`s, if the merchant's ID token and userinfo have no `sub`.

    Before, both signed in with a `sub` of the merchant.
    """
    signing_in = openid_sign_in(world)
    other = replace(signing_in, alone=signing_in.alone.beside())
    other.alone.grant()
    without = {"sub": None}
    subs = [_sub(world, each.again(id_token=without, userinfo=without)) for each in (signing_in, other)]

    expect.that(
        None in subs or subs[0] != subs[1],
        "subs of two users for whom the merchant names no sub",
        expected="two, or no code",
        got="one for both",
    )


def _sub(world: World, signed_in: SecondSignIn) -> object:
    """The `sub` of the access token; None without a code."""
    code = signed_in.visit.parameter("code")
    if code is None:
        return None
    authorization = world.authorization_of(signed_in.attempt, code)
    return claims_of(world, world.grant_of(authorization, signed_in.attempt)).get("sub")
