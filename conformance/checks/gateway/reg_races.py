"""Concurrent registrations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.suite.races import Races, require_answers
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# If only a complete authorization shows that a secret works, this many agents make one in each round.
SAMPLE = 3


@check("REG-09", rounds=4)
def registrations_at_once_give_a_client_each(gateway: Gateway, world: World, races: Races) -> None:
    """Each of many concurrent registrations gives its own client, with a secret that works."""
    world = world.in_one_browser()
    twin = world.new_code()
    require(world.gateway.exchange(twin)).status(200)
    for choice in races.each():
        answers = concurrent.registrations(gateway, [world.agents.metadata() for _ in range(races.racers)])

        agents = [world.agents.of(answer) for answer in require_answers(answers) if _accepted(answer)]
        require.that(len(agents) > 1, "registrations at the same moment", expected="several", got=len(agents))
        _different([agent.client_id for agent in agents], "client_id")
        _different([agent.client_secret.reveal() for agent in agents], "client_secret")
        _are_clients(world, twin, agents, choice)


def _accepted(answer: Exchange) -> bool:
    return answer.status in {200, 201}


def _different(values: Sequence[str], what: str) -> None:
    expect.that(
        len(set(values)) == len(values),
        f"{what} of {len(values)} registrations at the same moment",
        expected="a different one for each",
        got=f"{len(set(values))} different",
    )


def _are_clients(world: World, twin: Authorization, agents: Sequence[Agent], choice: random.Random) -> None:
    """Each agent's secret works.

    An exchange of an invented code shows this, if the gateway answers differently to a known agent and to one
    with a wrong secret. Otherwise a whole authorization shows it.
    """
    wrong = replace(twin.agent, client_secret=Secret("client_secret", "gateproof-wrong"))
    known, unknown, *results = _answers_to_invented_codes(world, twin, [twin.agent, wrong, *agents])
    if known == unknown:
        unclear = choice.sample(agents, min(SAMPLE, len(agents)))
    else:
        unclear = [agent for agent, said in zip(agents, results, strict=True) if said != known]
    for agent in unclear:
        attempt = world.attempt(agent)
        visit = world.gateway.visit(attempt)
        what = f"authorization of one of {len(agents)} agents that registered at the same moment"
        code = visit.parameter("code")
        expect.that(bool(code), what, expected="a code", got=visit.outcome())
        expect(world.gateway.exchange(world.authorization_of(attempt, code or ""))).status(200)


def _answers_to_invented_codes(
    world: World, twin: Authorization, agents: Sequence[Agent]
) -> list[tuple[int | None, object]]:
    """The answer to each agent for a code that was never issued."""
    invented = Secret("code", "gateproof-invented")
    answers = [world.gateway.exchange(replace(twin, agent=agent, code=invented)) for agent in agents]
    return [(answer.status, answer.member("error")) for answer in answers]
