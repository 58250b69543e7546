"""Two users of a Resource whose merchant tokens have different lifetimes."""

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
from gateproof.conformance.suite.claims import expect

LONG_LIFE_S = 36_000
REFRESH = "refresh_token"


@check("VAULT-01", needs=["merchant"], alone=True)
def longer_life_of_another_users_token_does_not_count(world: World) -> None:
    """A merchant token is refreshed after its own lifetime, although a later user's token lives longer."""
    short = isolated_user(world)
    long = short.beside()
    short.short_lived()
    long.script(access_token_lifetime_s=LONG_LIFE_S)
    agent, proxy_token = world.agents.new(), short.proxy_token()
    grant = short.grant(agent)
    first = world.backend.require_redeemed(grant, proxy_token).member("access_token")
    world.backend.require_redeemed(long.grant(agent), proxy_token)
    let_expire(world)

    answer = redeem_past(world, grant, proxy_token, first)
    require_unexpired(world, grant, answer)
    expect_renewed(answer, first)


@check("VAULT-05", needs=["merchant"], alone=True)
def shorter_life_of_another_users_token_does_not_count(world: World) -> None:
    """A merchant token far from its expiry is returned unchanged, although a later user's has expired."""
    long = isolated_user(world)
    short = long.beside()
    long.script(access_token_lifetime_s=LONG_LIFE_S)
    short.short_lived()
    agent, proxy_token = world.agents.new(), long.proxy_token()
    grant = long.grant(agent)
    first = world.backend.require_redeemed(grant, proxy_token)
    world.backend.require_redeemed(short.grant(agent), proxy_token)
    let_expire(world)

    answer = world.backend.redeem_once_provisioned(grant, proxy_token)
    require_unexpired(world, grant, answer)
    expect(answer).status(200)
    expect.equal(
        answer.member("access_token"),
        first.member("access_token"),
        "merchant token of a user whose token is far from its expiry",
    )
    expect.equal(len(long.asked(REFRESH)), 0, "refreshes for this user")
