"""Many agents that register at the same moment."""

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
from gateproof.conformance.suite.races import Races, arrived
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# Of agents that nothing but a whole authorization tells apart, so many go through one each round.
SAMPLE = 3


@check("REG-09", rounds=4)
def registrations_at_once_give_a_client_each(gateway: Gateway, world: World, races: Races) -> None:
    """Of many registrations at the same moment each gives a client of its own, whose secret works."""
    world = world.in_one_browser()
    twin = world.new_code()
    require(world.gateway.exchange(twin)).status(200)
    for choice in races.each():
        answers = concurrent.registrations(gateway, [world.agents.metadata() for _ in range(races.racers)])

        agents = [world.agents.of(answer) for answer in arrived(answers) if _accepted(answer)]
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
    """Each agent is known by its secret.

    An exchange of a made-up code tells, where the gateway says one thing to an agent that it knows and
    another to one whose secret is wrong. Whoever is not told the former shows by a whole authorization.
    """
    wrong = replace(twin.agent, client_secret=Secret("client_secret", "gateproof-wrong"))
    known, unknown, *told = _told(world, twin, [twin.agent, wrong, *agents])
    if known == unknown:
        doubtful = choice.sample(agents, min(SAMPLE, len(agents)))
    else:
        doubtful = [agent for agent, said in zip(agents, told, strict=True) if said != known]
    for agent in doubtful:
        attempt = world.attempt(agent)
        visit = world.gateway.visit(attempt)
        what = f"authorization of one of {len(agents)} agents that registered at the same moment"
        code = visit.parameter("code")
        expect.that(bool(code), what, expected="a code", got=visit.outcome())
        expect(world.gateway.exchange(world.authorization_of(attempt, code or ""))).status(200)


def _told(world: World, twin: Authorization, agents: Sequence[Agent]) -> list[tuple[int | None, object]]:
    """What each agent is told whose code was never handed out."""
    invented = Secret("code", "gateproof-invented")
    answers = [world.gateway.exchange(replace(twin, agent=agent, code=invented)) for agent in agents]
    return [(answer.status, answer.member("error")) for answer in answers]
