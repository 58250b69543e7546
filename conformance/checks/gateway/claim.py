"""The claims of the gateway access token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateproof.conformance.checks.gateway._held_again import leave_out_if_held_again
from gateproof.conformance.checks.gateway._second_project import agents_for, grant_at
from gateproof.conformance.checks.gateway._tokens import (
    AGENT_FACTS,
    agent_in,
    bound_to,
    carries,
    claims_of,
    does_not_reveal_the_user,
    ext_of,
    in_the_future,
    lists_methods,
    names_the_agent,
    of_level_2,
)
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require, values_of_choice
from gateproof.conformance.suite.parties import Agent, Grant

# Indicators that a careless gateway would normalize; each must come back as configured.
ODD_INDICATORS = {
    "upper-case-host": "https://API.Merchant.example/v1/{unique}",
    "upper-case-scheme": "HTTPS://api.merchant.example/v1/{unique}",
    "default-port": "https://api.merchant.example:443/v1/{unique}",
    "trailing-slash": "https://api.merchant.example/v1/{unique}/",
    "no-path": "https://{unique}.merchant.example",
    "percent-encoding": "https://api.merchant.example/v1/{unique}/%7euser%2Forders",
    "dot-segments": "https://api.merchant.example/v1/./{unique}/../{unique}",
    "double-slash": "https://api.merchant.example/v1//{unique}",
    "query": "https://api.merchant.example/v1/{unique}?b=2&a=1",
    "urn": "urn:merchant:{unique}:API",
    "decomposed-letters": "https://api.merchant.example/v1/{unique}/cafe\u0301",
    "three-hundred-characters": "https://api.merchant.example/v1/{unique}/" + "a" * 260,
}

# A redirect URI on another host than the usual one.
ELSEWHERE = "https://another-agent.example/callback"
DAY_S = 86_400
# Days between sign-ins. A gateway may forget a user who does not sign in for months.
LATER = {"six-weeks": (42,), "a-year": (63,) * 6}


@check("CLAIM-01")
def iss_is_the_issuer_of_discovery(world: World) -> None:
    """`iss` equals the issuer of the discovery document, character for character."""
    grant = world.grant()
    issuer = require.text(world.discovery(grant.resource).get("issuer"), "issuer in the discovery document")

    expect.equal(claims_of(world, grant).get("iss"), issuer, "iss")


@check("CLAIM-02")
def aud_is_an_array_with_the_indicator(world: World) -> None:
    """`aud` is an array that contains the Resource indicator."""
    grant = world.grant()

    bound_to(claims_of(world, grant), grant.resource.indicator)


@check("CLAIM-02", needs=["control:create_resource"], cases=ODD_INDICATORS)
def aud_keeps_an_odd_indicator_as_it_is(world: World, case: str) -> None:
    """`aud` contains the Resource indicator unchanged, also if it is not in normal form."""
    resource = world.projects.resource(indicator=case.format(unique=world.unique()))

    with values_of_choice():
        grant = world.grant(resource=resource)

    bound_to(claims_of(world, grant), resource.indicator)


@check("CLAIM-02", needs=["resources:2"])
def aud_holds_no_other_resource(world: World) -> None:
    """A token for one Resource does not name another one that its agent, or another agent, has used."""
    world = world.in_one_browser()
    one, other = world.projects.two_resources()
    if one.indicator == other.indicator:
        raise LeftOut("the two Resources of the target file stand for one merchant API")
    # A gateway that accumulates indicators must have seen the other one first.
    of_one, of_other = agents_for(world, (one, other))
    for agent, asked, foreign in ((of_other, other, one), (of_one, one, other), (of_other, other, one)):
        claims = claims_of(world, world.grant(agent=agent, resource=asked))
        bound_to(claims, asked.indicator)
        held = claims["aud"]
        expect.that(foreign.indicator not in held, "aud", expected=f"no {foreign.indicator}", got=held)


@check("CLAIM-03")
def sub_is_an_opaque_id_with_its_prefix(world: World) -> None:
    """`sub` is `sub_` followed by an identifier that does not reveal the user."""
    grant = world.grant()
    sub = expect.text(claims_of(world, grant).get("sub"), "sub")

    expect.that(sub.startswith("sub_") and len(sub) > 4, "sub", expected="sub_ and an identifier", got=sub)
    does_not_reveal_the_user(sub, grant.user, "sub")


@check("CLAIM-03")
def sub_is_stable_for_a_user(world: World) -> None:
    """The same user has the same `sub` at a Resource when the same agent is authorized a second time.

    Whether it is the same through another agent is recorded.
    """
    agent = world.agents.new()
    subs = [claims_of(world, world.grant(agent=agent)).get("sub") for _ in range(2)]
    require.text(subs[0], "sub")

    expect.equal(subs[1], subs[0], "sub of the same user in a second sign-in")
    try:
        other = world.agents.new_if_accepted(ELSEWHERE)
    except LeftOut:
        other = world.agents.new()
    through_another = claims_of(world, world.grant(agent=other)).get("sub")
    observe(sub_through_another_agent="the same" if through_another == subs[0] else "another")


@check("CLAIM-03", needs=["control:advance_clock"])
def sub_is_stable_from_day_to_day(world: World) -> None:
    """A user has the same `sub` in the Project a day later."""
    agent = world.agents.new()
    before = require.text(claims_of(world, world.grant(agent=agent)).get("sub"), "sub")
    world.clock.advance(DAY_S)

    after = claims_of(world, world.grant(agent=agent)).get("sub")
    expect.equal(after, before, "sub of the same user a day later")


@check("CLAIM-03", needs=["control:advance_clock"], cases=LATER)
def sub_is_stable_over_time(world: World, case: Sequence[int]) -> None:
    """A user has the same `sub` in the Project weeks later, and over a year with occasional sign-ins."""
    agent = world.agents.new()
    before = require.text(claims_of(world, world.grant(agent=agent)).get("sub"), "sub")
    for days in case:
        world.clock.advance(days * DAY_S)

        after = claims_of(world, _granted_later(world, agent)).get("sub")
        expect.equal(after, before, f"sub of the same user {days} days later")


def _granted_later(world: World, agent: Agent) -> Grant:
    attempt = world.attempt(agent)
    visit = world.gateway.visit(attempt)
    leave_out_if_held_again(world.gateway, attempt, visit)
    return world.grant_of(world.authorization_of(attempt, require_code(world.gateway, visit)), attempt)


@check("CLAIM-03", needs=["control:rotate_keys"])
def sub_is_stable_across_a_rotation(world: World) -> None:
    """A user has the same `sub` in the Project after a rotation of the signing key."""
    agent = world.agents.new()
    before = require.text(claims_of(world, world.grant(agent=agent)).get("sub"), "sub")
    world.keys.rotate()

    after = claims_of(world, world.grant(agent=agent)).get("sub")
    expect.equal(after, before, "sub of the same user after a rotation")


@check("CLAIM-03", needs=["users:2"])
def sub_differs_between_users(world: World) -> None:
    """Two users do not share a `sub`."""
    agent = world.agents.new()
    subs = [claims_of(world, world.grant(agent=agent, user=user)).get("sub") for user in world.users[:2]]
    require.text(subs[0], "sub")

    expect.that(
        subs[0] != subs[1], "sub of the second user", expected="another than the first's", got=subs[1]
    )


@check("CLAIM-04")
def exp_is_a_number_in_the_future(world: World) -> None:
    """`exp` is a numeric date in the future when the token is issued.

    The check records how far `nbf` is in the future, because many libraries refuse a token before it.
    """
    grant = world.grant()
    claims = claims_of(world, grant)
    now = world.clock.target_time(grant.answer)

    in_the_future(claims.get("exp"), now)
    begins = claims.get("nbf")
    if isinstance(begins, int | float) and begins > now:
        observe(access_token_begins_in_s=round(begins - now, 1))


@check("CLAIM-05")
def acr_is_of_level_2(world: World) -> None:
    """`ext.acr` is a context class of assurance level 2, also for a user already signed in."""
    for ext in _ext_of_two_sign_ins(world):
        of_level_2(ext.get("acr"))


@check("CLAIM-06")
def amr_is_an_array_of_strings(world: World) -> None:
    """`ext.amr` is a non-empty array of strings, also for a user already signed in."""
    for ext in _ext_of_two_sign_ins(world):
        lists_methods(ext.get("amr"))


@check("CLAIM-07")
def agent_is_named_by_its_client_id(world: World) -> None:
    """`ext.agent` contains the client ID of the agent that the token was issued to."""
    for grant in (world.grant(), world.grant()):
        names_the_agent(agent_in(ext_of(world, grant)), grant.agent)


@check("CLAIM-07", cases=AGENT_FACTS)
def agent_carries(world: World, case: tuple[str, ...]) -> None:
    """`ext.agent` contains the agent's domain, name and verifications; its structure is free."""
    carries(agent_in(ext_of(world, world.grant())), case)


@check("CLAIM-08")
def project_id_is_the_resources_project(world: World) -> None:
    """`ext.project_id` is the Project of the Resource."""
    grant = world.grant()

    expect.equal(ext_of(world, grant).get("project_id"), grant.resource.project_id, "ext.project_id")


@check("CLAIM-08", needs=["two-projects"])
def project_id_follows_the_resource(world: World) -> None:
    """Tokens of one agent at Resources of two Projects each name the Project of their own Resource.

    If the gateway lets an agent into one Project only, another agent is used in the other.
    """
    world = world.in_one_browser()
    agent, home, other = world.agents.new(), world.projects.home(), world.projects.another()
    for project in (home, other):
        grant = grant_at(world, agent, project.resource)
        expect.equal(ext_of(world, grant).get("project_id"), project.id, "ext.project_id")
    grant = world.grant(agent=agent, resource=home.resource)
    expect.equal(ext_of(world, grant).get("project_id"), home.id, "ext.project_id, at home again")


@check("CLAIM-08", needs=["control:create_resource", "control:create_project"])
def project_id_is_not_told_by_the_indicator(world: World) -> None:
    """Two Projects with the same Resource indicator give tokens with different project IDs."""
    projects, world = console.two_with_same_indicator(world), world.in_one_browser()
    agent = world.agents.new()
    for project in projects:
        grant = grant_at(world, agent, project.resource)
        expect.equal(ext_of(world, grant).get("project_id"), project.id, "ext.project_id")


def _ext_of_two_sign_ins(world: World) -> Iterator[Mapping[str, Any]]:
    """`ext` of a first token, and of another agent's token from the same signed-in browser."""
    world = world.in_one_browser()
    for _ in range(2):
        yield ext_of(world, world.grant())
