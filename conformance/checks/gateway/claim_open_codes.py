"""Claims of the tokens for two codes of one agent that are open at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.checks.gateway._tokens import bound_to, claims_of
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt


@check("CLAIM-03", needs=["users:2"])
def sub_is_that_of_the_user_of_the_code(world: World) -> None:
    """Two users authorize one agent before it exchanges either code: each token has its own user's `sub`."""
    agent, users = world.agents.new(), world.users[:2]
    claims = _of_codes_open_at_once(world, [world.attempt(agent, user=user) for user in users])

    for user, its_own in zip(users, claims, strict=True):
        later = claims_of(world, world.grant(agent=agent, user=user)).get("sub")
        expect.equal(its_own.get("sub"), later, f"sub of {user.name}, whose code was open beside another")


@check("CLAIM-02", needs=["resources:2"])
def aud_is_that_of_the_resource_of_the_code(world: World) -> None:
    """An agent gets codes at two Resources before it exchanges either: each token is for its own Resource."""
    world = world.in_one_browser()
    agent, resources = world.agents.new(), of_one_merchant(world, console.siblings(world))
    one, other = resources
    if one.indicator == other.indicator:
        raise LeftOut("the two Resources of the target file stand for one merchant API")
    claims = _of_codes_open_at_once(world, [world.attempt(agent, resource=each) for each in resources])

    for its_own, asked, foreign in zip(claims, (one, other), (other, one), strict=True):
        bound_to(its_own, asked.indicator)
        held = its_own["aud"]
        expect.that(foreign.indicator not in held, "aud", expected=f"no {foreign.indicator}", got=held)


def _of_codes_open_at_once(world: World, attempts: Sequence[Attempt]) -> list[Mapping[str, Any]]:
    """The claims of the tokens for these attempts, none of which was exchanged before all had their codes."""
    codes = [world.code_for(attempt) for attempt in attempts]
    answers = [world.gateway.exchange(code) for code in codes]
    if any(answer.status != 200 for answer in answers):
        raise LeftOut("the gateway does not keep several codes of an agent valid at once")
    keyring = world.gateway.keyring
    tokens = [
        keyring.secret("access_token", expect.text(answer.member("access_token"), "access_token"))
        for answer in answers
    ]
    return [world.jwt(token, "gateway access token").claims for token in tokens]
