"""The assertions that the gateway sends to the merchant, and the user and agent behind a merchant token."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from gateproof.conformance.checks.gateway._merchant_assertions import (
    JWT_BEARER,
    TOKEN_EXCHANGE,
    assertions_sent,
    requests_naming_agents,
)
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, expect_orders, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require, rule_requires
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.wire.jose import read, verifying
from gateproof.fakes.merchant.records import named_actors


@check("VAULT-08")
def assertions_verify_with_the_resources_keys(world: World) -> None:
    """A key of the Resource's own key set verifies every assertion sent to the merchant."""
    _signed_by_the_resource(isolated_user(world))


@check("VAULT-08", needs=["control:rotate_keys"])
def assertions_verify_with_the_resources_keys_after_a_rotation(world: World) -> None:
    """After a core key rotation, the Resource's own keys verify new assertions."""
    alone = isolated_user(world)
    # Earlier assertions may be signed with a Resource key that was replaced as well.
    before = alone.merchant.last_received()
    world.keys.rotate()

    _signed_by_the_resource(alone, after=before)


@check("VAULT-09", cases=("first-user", "second-user"))
def merchant_token_stands_for_the_user(world: World, case: str) -> None:
    """The merchant token belongs to the user who signed in."""
    alone = isolated_user(world)
    if case == "second-user":
        if len(world.users) < 2:
            raise LeftOut("the target file has one user only")
        alone = alone.beside()
    grant = alone.grant()
    token = world.backend.merchant_token(grant, alone.proxy_token())
    known = alone.merchant.lookup(token.reveal())

    expect.that(known is not None, "merchant token", expected="one that the merchant issued", got="another")
    expect.equal(known.login if known else None, alone.user.login, "user behind the merchant token")
    expect_orders(alone, token.reveal())


@check("VAULT-09")
def merchant_token_names_the_agent(world: World) -> None:
    """The merchant token carries the client ID of the agent."""
    alone = isolated_user(world)
    grant = alone.grant()
    token = world.backend.merchant_token(grant, alone.proxy_token())
    requests_naming_agents(alone)
    known = alone.merchant.lookup(token.reveal())
    actors = known.actor if known is not None else ()

    expect.that(
        any(grant.agent.client_id in actor for actor in actors),
        "agent behind the merchant token",
        expected=grant.agent.client_id,
        got=", ".join(actors) or "nobody",
    )


@check("VAULT-09")
def second_agent_is_named_in_its_turn(world: World) -> None:
    """At a sign-in through a second agent, the gateway names that agent to the merchant.

    The gateway may use the merchant token cached for the first agent, so the requests are examined.
    """
    alone = isolated_user(world)
    world.backend.merchant_token(alone.grant(), alone.proxy_token())
    before = requests_naming_agents(alone)
    second = alone.grant()
    sent = alone.served_again(before, second.agent.client_id, JWT_BEARER, TOKEN_EXCHANGE)
    if not sent:
        raise LeftOut(
            "for a user's second agent, the gateway uses the merchant token from the first agent's sign-in"
        )
    actors = [actor for entry in sent for actor in named_actors(entry.actor)]

    expect.that(
        any(second.agent.client_id in actor for actor in actors),
        "agent that the gateway named to the merchant at the second agent's sign-in",
        expected=second.agent.client_id,
        got=", ".join(actors) or "nobody",
    )


@check("VAULT-11")
def merchant_token_through_another_agent(gateway: Gateway, world: World) -> None:
    """Records whether a second agent gets the merchant token cached for the first agent's sign-in."""
    alone = isolated_user(world, own=True)
    proxy_token, first = alone.proxy_token(), alone.grant()
    token = world.backend.merchant_token(first, proxy_token)
    alone.script(provisioning="reject")
    second = alone.grant()
    answer = gateway.redeem(second.access_token, proxy_token, second.resource.indicator)

    observe(
        second_agents_status=answer.status or 0,
        second_agent_gets_the_first_ones_token=answer.member("access_token") == token.reveal(),
    )


def _signed_by_the_resource(alone: IsolatedUser, *, after: int = 0) -> None:
    world = alone.world
    grant = alone.grant()
    world.backend.redeem_after_backoff(grant, alone.proxy_token())
    sent = assertions_sent(alone, [grant], after)
    require.that(
        bool(sent),
        "journal of the fake merchant",
        expected="an assertion from the gateway",
        got=", ".join(sorted({entry.grant or entry.endpoint for entry in alone.journal()})) or "nothing",
    )
    own = _own_keys(world, grant.resource)

    for each in sent:
        parsed = read(each.token)
        header = parsed.header if parsed is not None else {}
        expect.that(
            bool(verifying(each.token, own)),
            f"{each.kind} that the gateway sent to the merchant",
            expected="a signature that verifies with the key set of the Resource",
            got=f"none of its {len(own)} keys verifies it (alg {header.get('alg')})",
        )


def _own_keys(world: World, resource: Resource) -> list[dict[str, Any]]:
    """The keys of the Resource; if the gateway itself named their URL, it must serve them."""
    said_by_the_gateway = world.projects.pool.created_by_run(resource.project_id)
    with rule_requires() if said_by_the_gateway else nullcontext():
        return world.keys.at(resource.jwks_uri, "key set of the Resource")
