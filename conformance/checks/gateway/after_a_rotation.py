"""What worked before the core got another signing key works afterwards, too."""

from __future__ import annotations

from conformance import console
from conformance.check import check
from conformance.checks.gateway._exchanges import TOKENS, works
from conformance.checks.gateway._visits import code_came
from conformance.claims import expect, require
from conformance.gateway import Gateway
from conformance.wire.jose import read
from conformance.world import World

MAKES_AND_REVOKES = ("control:create_proxy_client", "control:revoke_proxy_client")


@check("AUTHZ-01", needs=["control:rotate_keys"])
def code_comes_after_a_rotation(gateway: Gateway, world: World) -> None:
    """Users sign in and approve agents as before, those that were there and those that come now."""
    agent = world.agent()
    world.authorization(agent=agent)
    world.rotate_keys()

    code_came(gateway.visit(world.attempt(agent)), "authorization after a rotation")
    code_came(gateway.visit(world.attempt(world.agent())), "authorization of an agent from after a rotation")


@check("CODE-01", needs=["control:rotate_keys"])
def every_token_comes_after_a_rotation(world: World) -> None:
    """An agent exchanges its codes with the secret that it was given before."""
    world = world.in_one_browser()
    agent = world.agent()
    works(world, agent)
    world.rotate_keys()

    answer = world.gateway.exchange(world.authorization(agent=agent))

    expect(answer).status(200)
    for name in TOKENS:
        expect.text(answer.member(name), name)
    expect.that(
        read(str(answer.member("access_token"))) is not None,
        "access_token after a rotation",
        expected="a JWT",
        got="something else",
    )


@check("PROXY-01", needs=["control:rotate_keys"])
def proxy_token_comes_after_a_rotation(gateway: Gateway, world: World) -> None:
    """A Proxy client gets its tokens with the secret that it was given before."""
    client = world.home().proxy_client
    require(gateway.proxy_token(client)).status(200)
    world.rotate_keys()

    answer = gateway.proxy_token(client)

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")


@check("PROXY-04", needs=[*MAKES_AND_REVOKES, "control:rotate_keys"])
def revoked_client_gets_401_after_a_rotation_too(gateway: Gateway, world: World) -> None:
    """A revocation is not forgotten with the key: it stands, and the Project's other client works."""
    project = world.project_apart()
    leaving = console.new_proxy_client(world, project)
    require(gateway.proxy_token(leaving)).status(200)
    console.revoke(world, leaving)
    require(gateway.proxy_token(leaving)).status(401)
    world.rotate_keys()
    require(gateway.proxy_token(project.proxy_client)).status(200)

    expect(gateway.proxy_token(leaving)).status(401)


@check("REDEEM-01", needs=["control:rotate_keys"])
def merchant_token_comes_after_a_rotation(world: World) -> None:
    """Tokens from after the rotation redeem like those from before."""
    agent = world.agent()
    world.redeemed(world.grant(agent=agent), world.proxy_token())
    world.rotate_keys()
    grant, proxy_token = world.grant(agent=agent), world.proxy_token()

    answer = world.settled(grant, proxy_token)

    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")
