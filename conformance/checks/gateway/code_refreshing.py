"""Where a refresh token brings tokens, it brings them to the agent that it was given to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens, refreshed
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.inputs.near_tokens import changed
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Grant

WRONG: Mapping[str, Callable[[str], str]] = {
    "invented": lambda _: "gateproof-wrong",
    "empty": lambda _: "",
    "first-character-changed": lambda secret: changed(secret, 0),
}


@check("CODE-07", cases=WRONG)
def refresh_with_a_wrong_secret_gets_no_tokens(world: World, case: Callable[[str], str]) -> None:
    """The form of the refresh grant is open; whatever it is, an agent has to be who it says it is."""
    grant = _refreshable(world)
    wrong = case(grant.agent.client_secret.reveal())
    if wrong:
        world.gateway.keyring.secret("wrong_secret", wrong)

    answer = world.gateway.token_request(
        [
            ("grant_type", "refresh_token"),
            ("refresh_token", grant.refresh_token.reveal()),
            ("client_id", grant.agent.client_id),
            ("client_secret", wrong),
        ]
    )

    no_tokens(answer, "a refresh token and a wrong client_secret")


@check("CODE-08")
def refresh_token_of_one_agent_gets_another_no_tokens(world: World) -> None:
    """A refresh token is good for the agent alone that it was given to."""
    grant = _refreshable(world)

    answer = refreshed(world.gateway, world.agents.new(), grant.refresh_token.reveal())

    no_tokens(answer, "another agent's refresh token")


def _refreshable(world: World) -> Grant:
    """Tokens of an agent whose last refresh token was good for new ones."""
    world = world.in_one_browser()
    agent = world.agents.new()
    twin = world.grant(agent=agent)
    if refreshed(world.gateway, agent, twin.refresh_token.reveal()).status != 200:
        raise LeftOut("the refresh grant in the form that OAuth gives it is not supported")
    return world.grant(agent=agent)
