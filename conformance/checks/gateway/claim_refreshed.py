"""The claims of an access token from a refresh: the same rules apply as for any access token."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._refreshed_tokens import (
    refresh_after_expiry,
    refreshed_grant,
    reused_refreshed_grant,
)
from gateproof.conformance.checks.gateway._second_project import agents_for, grant_at_for_same_agent
from gateproof.conformance.checks.gateway._tokens import (
    AGENT_FACTS,
    agent_in,
    bound_to,
    carries,
    claims_of,
    ext_of,
    in_the_future,
    lists_methods,
    names_the_agent,
    of_level_2,
)
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require


@check("CLAIM-01")
def renewed_token_has_the_issuer_of_discovery(world: World) -> None:
    """After a refresh, `iss` is the issuer of the discovery document."""
    grant = reused_refreshed_grant(world)
    issuer = require.text(world.discovery(grant.resource).get("issuer"), "issuer in the discovery document")

    expect.equal(claims_of(world, grant).get("iss"), issuer, "iss after a refresh")


@check("CLAIM-02")
def renewed_token_is_bound_to_the_resource(world: World) -> None:
    """After a refresh, `aud` is an array with the Resource indicator."""
    grant = reused_refreshed_grant(world)

    bound_to(claims_of(world, grant), grant.resource.indicator)


@check("CLAIM-02", needs=["resources:2"])
def renewed_token_holds_no_other_resource(world: World) -> None:
    """After a refresh, `aud` names the grant's own Resource and no other Resource of the agent."""
    one, other = world.projects.two_resources()
    if one.indicator == other.indicator:
        raise LeftOut("the two Resources of the target file stand for one merchant API")
    world = world.in_one_browser()
    of_one, of_other = agents_for(world, (one, other))
    grants = [world.grant(agent=of_one, resource=one), world.grant(agent=of_other, resource=other)]
    # Refresh the newest grant first, because it may have invalidated the other refresh token.
    for grant, foreign in zip(reversed(grants), (one, other), strict=True):
        claims = claims_of(world, refreshed_grant(world, grant))
        bound_to(claims, grant.resource.indicator)
        held = claims["aud"]
        expect.that(foreign.indicator not in held, "aud", expected=f"no {foreign.indicator}", got=held)


@check("CLAIM-03")
def renewed_token_has_the_sub_of_before(world: World) -> None:
    """After a refresh, `sub` is the same as before."""
    grant = reused_refreshed_grant(world)
    usual = require.text(claims_of(world, world.grant(agent=grant.agent, user=grant.user)).get("sub"), "sub")

    expect.equal(claims_of(world, grant).get("sub"), usual, "sub after a refresh")


@check("CLAIM-04")
def renewed_token_ends_in_the_future(world: World) -> None:
    """After a refresh, `exp` is a number in the future."""
    grant = reused_refreshed_grant(world)

    in_the_future(claims_of(world, grant).get("exp"), world.clock.target_time(grant.answer))


@check("CLAIM-04", needs=["control:advance_clock"])
def late_refresh_brings_a_token_that_ends_in_the_future(world: World) -> None:
    """After a refresh when the first access token has expired, `exp` of the new one is in the future."""
    grant = refresh_after_expiry(world, world.grant())

    in_the_future(claims_of(world, grant).get("exp"), world.clock.target_time(grant.answer))


@check("CLAIM-05")
def renewed_token_has_an_acr_of_level_2(world: World) -> None:
    """After a refresh, `ext.acr` is of assurance level 2."""
    of_level_2(ext_of(world, reused_refreshed_grant(world)).get("acr"))


@check("CLAIM-06")
def renewed_token_lists_methods(world: World) -> None:
    """After a refresh, `ext.amr` is an array of strings."""
    lists_methods(ext_of(world, reused_refreshed_grant(world)).get("amr"))


@check("CLAIM-07")
def renewed_token_names_the_agent(world: World) -> None:
    """After a refresh, `ext.agent` contains the client ID of the agent."""
    grant = reused_refreshed_grant(world)

    names_the_agent(agent_in(ext_of(world, grant)), grant.agent)


@check("CLAIM-07", cases=AGENT_FACTS)
def renewed_agent_carries(world: World, case: tuple[str, ...]) -> None:
    """After a refresh, `ext.agent` still contains the agent's domain, name and verifications."""
    carries(agent_in(ext_of(world, reused_refreshed_grant(world))), case)


@check("CLAIM-08")
def renewed_token_names_the_project(world: World) -> None:
    """After a refresh, `ext.project_id` is the Project of the Resource."""
    grant = reused_refreshed_grant(world)

    expect.equal(ext_of(world, grant).get("project_id"), grant.resource.project_id, "ext.project_id")


@check("CLAIM-08", needs=["two-projects"])
def renewed_token_names_the_project_of_its_grant(world: World) -> None:
    """After a refresh, `ext.project_id` is the Project of this grant, not of the agent's other grant."""
    world = world.in_one_browser()
    agent, (one, other) = world.agents.new(), (world.projects.home(), world.projects.another())
    grants = [
        world.grant(agent=agent, resource=one.resource),
        grant_at_for_same_agent(world, agent, other.resource),
    ]
    # Refresh the newest grant first, because it may have invalidated the other refresh token.
    for grant in reversed(grants):
        ext = ext_of(world, refreshed_grant(world, grant))
        expect.equal(ext.get("project_id"), grant.resource.project_id, "ext.project_id")


@check("CLAIM-08", needs=["control:create_resource", "control:create_project"])
def renewed_token_names_its_project_for_the_same_indicator(world: World) -> None:
    """After refreshes in two Projects with the same indicator, `ext.project_id` is that of each."""
    projects, world = console.two_with_same_indicator(world), world.in_one_browser()
    # An agent may be limited to one Project.
    grants = [world.grant(resource=project.resource) for project in projects]
    for project, grant in zip(projects, grants, strict=True):
        ext = ext_of(world, refreshed_grant(world, grant))
        expect.equal(ext.get("project_id"), project.id, "ext.project_id after a refresh")
