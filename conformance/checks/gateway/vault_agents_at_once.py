"""The agent that the gateway names to the merchant when several users sign in at the same moment."""

from __future__ import annotations

from functools import partial

from gateproof.conformance.checks.gateway._merchant_assertions import requests_naming_agents
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.races import FEW, Races, together

# Browsers come to the merchant at different times.
_HOLD_S = 1.0


@check("VAULT-09", needs=["merchant", "sign-in:browser"], rounds=7)
def agent_is_the_users_own_when_others_sign_in_too(world: World, races: Races) -> None:
    """Users who sign in at once, each through another agent, get merchant tokens that name their own agent.

    All users are new to the Resource, so no merchant token is in the vault. The merchant answers their
    sign-ins together. The merchant token of a user who signs in alone names the agent.
    """
    alone = isolated_user(world)
    grant = alone.grant()
    actors = _actors(alone, grant)
    requests_naming_agents(alone)
    if not any(grant.agent.client_id in actor for actor in actors):
        raise LeftOut("the merchant token of a user who signs in alone does not name the agent")
    for _ in races.each():
        first = isolated_user(world)
        users = [first, first.beside()] if first.given else [first, *(first.beside() for _ in range(FEW - 1))]
        agents = [world.agents.new() for _ in users]
        hold = {"outcome": "hold", "gate": world.unique(), "parties": len(users), "seconds": _HOLD_S}
        for user in users:
            user.script(sign_in=hold)
        grants = together([partial(user.grant, agent) for user, agent in zip(users, agents, strict=True)])
        for user, grant in zip(users, grants, strict=True):
            actors = _actors(user, grant)
            named = {agent.client_id for agent in agents if any(agent.client_id in each for each in actors)}
            expect.that(
                named == {grant.agent.client_id},
                "agent behind the merchant token of a user who signed in beside others",
                expected=grant.agent.client_id,
                got=", ".join(actors) or "nobody",
            )


def _actors(alone: IsolatedUser, grant: Grant) -> tuple[str, ...]:
    """The actors of the user's merchant token, as the merchant knows it."""
    token = alone.world.backend.merchant_token(grant, alone.proxy_token())
    known = alone.merchant.lookup(token.reveal())
    return known.actor if known is not None else ()
