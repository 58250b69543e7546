"""A token is for the Resource whose authorization server was used, whatever the request names."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway._extra_fields import GRANTS, with_field
from gateproof.conformance.checks.gateway._visits import no_code, visit_with
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require, values_of_choice
from gateproof.conformance.suite.parties import Resource
from gateproof.conformance.wire.documents import strings_in
from gateproof.conformance.wire.exchange import Exchange

# Parameters from which OAuth extensions and many products take the audience (RFC 8707, RFC 8693).
PARAMETERS = ("resource", "audience")


@check("CLAIM-02", needs=["resources:2"], cases=PARAMETERS)
def aud_holds_no_resource_that_the_request_names(world: World, case: str) -> None:
    """Another Resource named in an authorization request is not in `aud`; a refusal is allowed."""
    world, one, other = _two_resources(world)
    agent = world.grant(resource=one).agent
    attempt = world.attempt(agent, resource=one)

    visit = visit_with(world, attempt, **{case: other.indicator})
    if not visit.codes():
        no_code(visit, f"authorization with the {case} {other.indicator}")
        return
    answer = world.gateway.exchange(world.authorization_of(attempt, visit.codes()[0]))
    _holds_none_of(world, answer, other, f"the parameter {case} at the authorization")


@check(
    "CLAIM-02",
    needs=["resources:2"],
    cases={f"{name}-at-the-{grant}": (name, grant) for name in PARAMETERS for grant in GRANTS},
)
def aud_holds_no_resource_that_the_form_names(world: World, case: tuple[str, str]) -> None:
    """Another Resource named in an exchange or a refresh is not in `aud`; a refusal is allowed."""
    name, grant = case
    world, one, other = _two_resources(world)
    agent = world.grant(resource=one).agent

    answer = with_field(world, grant, name, other.indicator, agent=agent, resource=one)
    _holds_none_of(world, answer, other, f"the field {name} at the {grant}")


def _two_resources(world: World) -> tuple[World, Resource, Resource]:
    one, other = world.projects.two_resources()
    if one.indicator == other.indicator:
        raise LeftOut("the two Resources of the target file stand for one merchant API")
    return world.in_one_browser(), one, other


def _holds_none_of(world: World, answer: Exchange, other: Resource, what: str) -> None:
    if answer.status in range(400, 500):
        no_tokens(answer, what)
        return
    with values_of_choice():
        token = require.text(require(answer).status(200).member("access_token"), "access_token")
    claims = world.jwt(world.gateway.keyring.secret("access_token", token), "gateway access token").claims
    held = claims.get("aud")
    expect.that(
        other.indicator not in strings_in({"aud": held}),
        f"aud after {what}",
        expected=f"no {other.indicator}",
        got=held,
    )
