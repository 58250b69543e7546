"""Merchant tokens of two users with nearly the same login or e-mail address."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._similar_users import grants_of_similar_users
from gateproof.conformance.checks.gateway._token_owner import expect_own_tokens
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.similar_logins import ALIKE
from gateproof.conformance.signin.sign_in_result import SignInFailed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet
from gateproof.conformance.suite.parties import User


@check("REDEEM-12", needs=["merchant"], cases=ALIKE)
def users_with_similar_logins_get_their_own(world: World, case: tuple[str, str]) -> None:
    """Two users whose logins differ only slightly get their own merchant tokens."""
    proxy_token = world.backend.proxy_token()
    grants = grants_of_similar_users(world, case, proxy_token)

    expect_own_tokens(world, [(grant, proxy_token) for grant in (*grants, grants[0])])


@check("REDEEM-12", needs=["merchant"])
def unverified_email_of_another_user_gives_none_of_their_tokens(world: World) -> None:
    """A user with another user's e-mail address, unverified, gets their own merchant token.

    Many merchants let users enter any address. A gateway may refuse such a user.
    """
    _get_their_own(world, lambda one: {"email": one.login, "email_verified": False, "name": one.name})


@check("REDEEM-12", needs=["merchant"])
def preferred_username_of_another_user_gives_none_of_their_tokens(world: World) -> None:
    """A user who prefers the name of another user gets their own merchant token.

    Only `sub` identifies a user (OpenID Connect Core 5.7). A gateway may refuse such a user.
    """
    _get_their_own(world, lambda one: {"preferred_username": one.login, "name": one.name})


def _get_their_own(world: World, says: Callable[[User], Mapping[str, object]]) -> None:
    """Two users get their own merchant tokens, although the merchant says this of the second one."""
    one = openid_sign_in(world).alone
    proxy_token = one.proxy_token()
    first = one.grant()
    world.backend.require_redeemed(first, proxy_token)
    other, said = one.beside(), says(one.user)
    other.script(id_token=said, userinfo=said)
    try:
        second = other.grant()
        world.backend.require_redeemed(second, proxy_token)
    except (Unmet, SignInFailed) as refusal:
        raise LeftOut("the gateway does not let such a user sign in and redeem") from refusal

    expect_own_tokens(world, [(grant, proxy_token) for grant in (first, second)])
