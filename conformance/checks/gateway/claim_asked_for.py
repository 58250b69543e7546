"""Requests that ask for claims of their own choice: the token says what the sign-in and the Resource were.

The parameters are those of OpenID Connect, and names of claims. A refusal is fine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._extra_fields import GRANTS, with_fields
from gateproof.conformance.checks.gateway._tokens import claims_of, of_level_2
from gateproof.conformance.checks.gateway._visits import no_code, visit_with
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import attach, expect, require, values_of_choice
from gateproof.conformance.suite.parties import Agent, Resource
from gateproof.conformance.wire.exchange import Exchange

LOWER = "urn:gateproof:al1"
PLACES = ("authorization", *GRANTS)
_REQUESTED = {"acr": {"essential": False, "value": LOWER}}
CLASSES: Mapping[str, Mapping[str, str]] = {
    "acr_values": {"acr_values": LOWER},
    "acr": {"acr": LOWER},
    "claims": {"claims": json.dumps({"id_token": _REQUESTED, "access_token": _REQUESTED})},
}


@check(
    "CLAIM-05",
    cases={f"{name}-at-the-{place}": (asked, place) for name, asked in CLASSES.items() for place in PLACES},
)
def acr_is_of_level_2_whatever_is_asked_for(world: World, case: tuple[Mapping[str, str], str]) -> None:
    """`ext.acr` is of level 2 also if the request asks for a lower context class."""
    asked, place = case
    world, agent = _known_agent(world)
    answer = _asking(world, place, asked, agent, world.projects.home().resource)
    if answer is not None:
        of_level_2(_ext(_claims(world, answer)).get("acr"))


@check("CLAIM-08", needs=["two-projects"], cases=PLACES)
def project_id_is_not_asked_for(world: World, case: str) -> None:
    """`ext.project_id` is the Project of the Resource also if the request names another Project."""
    home, another = world.projects.home(), world.projects.another()
    world, agent = _known_agent(world)
    asked = {"project_id": another.id, "project": another.id}
    answer = _asking(world, case, asked, agent, home.resource)
    if answer is not None:
        got = _ext(_claims(world, answer)).get("project_id")
        expect.equal(got, home.id, "ext.project_id of a request that names another Project")


@check("CLAIM-03", needs=["users:2"], cases=GRANTS)
def sub_is_not_asked_for(world: World, case: str) -> None:
    """`sub` is that of the user who signed in also if the token request names another user.

    At the authorization, a gateway may ask the named user to sign in.
    """
    other, resource = world.users[1], world.projects.home().resource
    theirs = str(claims_of(world, world.grant(user=other)).get("sub"))
    world, agent = _known_agent(world)
    own = claims_of(world, world.grant(agent=agent, resource=resource)).get("sub")
    for named in (other.login, theirs):
        asked = {"sub": named, "user": named, "user_id": named, "username": named, "login_id": named}
        answer = _asking(world, case, asked, agent, resource)
        if answer is not None:
            expect.equal(_claims(world, answer).get("sub"), own, "sub of a request that names another user")


def _known_agent(world: World) -> tuple[World, Agent]:
    """An agent that gets tokens, and a world with the browser in which it did."""
    world = world.in_one_browser()
    return world, world.grant(resource=world.projects.home().resource).agent


def _asking(
    world: World, place: str, asked: Mapping[str, str], agent: Agent, resource: Resource
) -> Exchange | None:
    """Tokens for a request with these parameters; None if it was refused."""
    if place == "authorization":
        attempt = world.attempt(agent, resource=resource)
        visit = visit_with(world, attempt, **asked)
        if not visit.codes():
            no_code(visit, f"authorization with {', '.join(asked)}")
            return None
        answer = world.gateway.exchange(world.authorization_of(attempt, visit.codes()[0]))
    else:
        answer = with_fields(world, place, asked, agent=agent, resource=resource)
    if answer.status in range(400, 500):
        no_tokens(answer, f"{', '.join(asked)} at the {place}")
        return None
    with values_of_choice():
        require(answer).status(200)
    return answer


def _claims(world: World, answer: Exchange) -> Mapping[str, object]:
    token = require.text(answer.member("access_token"), "access_token")
    claims = world.jwt(world.gateway.keyring.secret("access_token", token), "gateway access token").claims
    attach(claims=claims)
    return claims


def _ext(claims: Mapping[str, object]) -> Mapping[str, object]:
    ext = claims.get("ext")
    return ext if isinstance(ext, dict) else {}
