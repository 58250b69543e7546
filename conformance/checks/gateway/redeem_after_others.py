"""Redemption at a second Resource or Project, by a second agent or user, and under a second key."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gateproof.conformance.checks.gateway._same_indicator import at, in_two_projects
from gateproof.conformance.checks.gateway._second_project import grant_at
from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.isolated_user import (
    IsolatedUser,
    isolated_user,
    needing_reauthorization,
    require_unexpired,
)
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.secret import Secret

LONG_LIFE_S = 36_000
CREATES = ("control:create_project", "control:create_resource")
PLACES = ("another-resource", "same-indicator-in-another-project")
# More than a small limit on the live authorizations of an agent or user.
LATER = 12


@check("REDEEM-01", needs=["resources:2"])
def another_resource_redeems_too(world: World) -> None:
    """A user who signed in at two Resources of a Project redeems at both."""
    proxy_token, agent = world.backend.proxy_token(), world.agents.new()
    grants = [
        world.grant(agent=agent, resource=resource)
        for resource in of_one_merchant(world, console.siblings(world))
    ]

    for grant in grants:
        _redeems(world, grant, proxy_token)


@check("REDEEM-01", needs=["two-projects"])
def another_project_redeems_too(world: World) -> None:
    """A user who signed in at two Projects redeems in both, with each Project's Proxy client."""
    projects = world.projects.home(), world.projects.another()
    of_one_merchant(world, [project.resource for project in projects])
    agent, tokens = world.agents.new(), [world.backend.proxy_token(project) for project in projects]
    grants = [grant_at(world, agent, project.resource) for project in projects]

    for grant, proxy_token in zip(grants, tokens, strict=True):
        _redeems(world, grant, proxy_token)


@check("REDEEM-01", needs=["users:2"])
def another_agent_and_another_user_redeem_too(world: World) -> None:
    """After a second agent and a second user have signed in, all three grants redeem."""
    proxy_token, agents = world.backend.proxy_token(), (world.agents.new(), world.agents.new())
    one, other = world.users[:2]
    grants = [
        world.grant(agent=agent, user=user)
        for agent, user in ((agents[0], one), (agents[1], one), (agents[0], other))
    ]

    for grant in grants:
        _redeems(world, grant, proxy_token)


@check("REDEEM-01", needs=["users:2"], cases={"of-the-agent": True, "of-the-user": False})
def first_token_redeems_after_many_authorizations(world: World, case: bool) -> None:
    """A token still redeems after 12 more authorizations of its agent by another user, or of other agents."""
    here, proxy_token = world.in_one_browser(), world.backend.proxy_token()
    agent, (user, other) = world.agents.new(), world.users[:2]
    first = world.grant(agent=agent, user=user)
    world.backend.require_redeemed(first, proxy_token)
    for _ in range(LATER):
        here.grant(agent=agent, user=other) if case else here.grant(user=user)

    answer = world.backend.redeem_once_provisioned(first, proxy_token)
    require_unexpired(world, first, answer)
    expect(answer).status(200)


@check("REDEEM-01", needs=["users:2"])
def another_user_redeems_after_a_code_was_used_twice(world: World) -> None:
    """A second use of a user's code leaves the tokens of the agent's other users alone."""
    agent, (user, other) = world.agents.new(), world.users[:2]
    proxy_token = world.backend.proxy_token()
    grant = world.grant(agent=agent, user=other)
    world.backend.require_redeemed(grant, proxy_token)
    attempt = world.attempt(agent, user=user)
    used = world.code_for(attempt)
    world.grant_of(used, attempt)
    require(world.gateway.exchange(used)).refused()

    _redeems(world, grant, proxy_token)


@check("REDEEM-01", needs=["control:rotate_keys"])
def token_under_a_new_key_redeems_too(world: World) -> None:
    """After a key rotation, access tokens signed with the new key redeem.

    A gateway with several processes may need a moment until all of them know the key.
    """
    world.keys.rotate()
    # A Proxy token from before the rotation may become invalid; that is not tested here.
    proxy_token = world.backend.proxy_token()

    _redeems(world, world.grant(), proxy_token, not_yet=(401, 404))


@check("REDEEM-01", needs=["merchant"], alone=True)
def user_redeems_although_anothers_refresh_was_rejected(world: World) -> None:
    """After the merchant has rejected one user's refresh token, another user of the agent still redeems."""
    rejected = isolated_user(world)
    other = rejected.beside()
    other.script(access_token_lifetime_s=LONG_LIFE_S)
    agent = world.agents.new()
    grant, proxy_token = other.grant(agent), other.proxy_token()
    world.backend.require_redeemed(grant, proxy_token)
    needing_reauthorization(rejected, agent, refresh="reject")

    answer = world.backend.redeem_after_backoff(grant, proxy_token)

    require_unexpired(world, grant, answer)
    expect(answer).status(200)


@check("REDEEM-01", needs=["merchant", *CREATES], alone=True, cases=PLACES)
def user_redeems_elsewhere_although_a_refresh_was_rejected(world: World, case: str) -> None:
    """After the merchant has rejected a user's refresh token at one Resource, the user redeems at another.

    The other one is a second Resource of the Project, or has the same indicator in another Project.
    """
    rejected, other = _two_places(world, case)
    agent, proxy_token = world.agents.new(), other.proxy_token()
    other.script(access_token_lifetime_s=LONG_LIFE_S)
    grant = other.grant(agent)
    world.backend.require_redeemed(grant, proxy_token)
    # An agent may be limited to one Project.
    needing_reauthorization(rejected, agent if case == PLACES[0] else None, refresh="reject")

    answer = world.backend.redeem_after_backoff(grant, proxy_token)

    require_unexpired(world, grant, answer)
    expect(answer).status(200)


def _two_places(world: World, case: str) -> tuple[IsolatedUser, IsolatedUser]:
    """One user at two Resources that no other check uses."""
    if case != PLACES[0]:
        return in_two_projects(world)
    alone = isolated_user(world)
    indicator = f"https://api.merchant.example/{world.unique()}"
    sibling = replace(alone.project, resource=console.resource_in(world, alone.project, indicator))
    return alone, at(alone, sibling)


def _redeems(world: World, grant: Grant, proxy_token: Secret, *, not_yet: Collection[int] = (404,)) -> None:
    answer = world.backend.redeem_after_backoff(grant, proxy_token, not_yet=not_yet)
    expect(answer).status(200)
    expect.text(answer.member("access_token"), "access_token")
