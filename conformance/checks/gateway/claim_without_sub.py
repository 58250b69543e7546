"""Users for whom the merchant names no `sub`."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._openid_sign_in import SecondSignIn, openid_sign_in
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require, values_of_choice
from gateproof.conformance.wire.secret import Secret


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
        not all(subs) or subs[0] != subs[1],
        "subs of two users for whom the merchant names no sub",
        expected="two, or no code",
        got="one for both",
    )


def _sub(world: World, signed_in: SecondSignIn) -> str:
    """The `sub` of the access token; empty if the gateway gives no code for such a user, or no tokens."""
    code = signed_in.visit.parameter("code")
    if code is None:
        return ""
    answer = world.gateway.exchange(world.authorization_of(signed_in.attempt, code))
    token = answer.member("access_token")
    if not isinstance(token, str):
        return ""
    with values_of_choice():
        return require.text(world.jwt(Secret("access_token", token), "access token").claims.get("sub"), "sub")
