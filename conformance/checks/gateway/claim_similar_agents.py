"""Tokens of agents that have something in common each name their own agent."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._tokens import agent_in, ext_of, names_the_agent
from gateproof.conformance.kit.gateway.agents import AGENT_DOMAIN, AGENT_NAME
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Agent
from gateproof.conformance.wire.documents import strings_in


@check("CLAIM-07")
def agents_of_one_domain_have_their_own_names(world: World) -> None:
    """Of two agents with the same redirect URI, each token has the agent's own name, if it has a name."""
    uri = f"https://{world.unique()}.example/callback"
    names = [f"Agent {world.unique()}" for _ in range(2)]
    agents = [_registered(world, name, uri) for name in names]

    _each_is_called(world, agents, names, (AGENT_NAME,))


@check("CLAIM-07")
def agents_of_one_name_have_their_own_domains(world: World) -> None:
    """Of two agents with the same name, each token has the agent's own domain, if it has a domain."""
    name = f"Agent {world.unique()}"
    hosts = [f"{world.unique()}.example" for _ in range(2)]
    agents = [_registered(world, name, f"https://{host}/callback") for host in hosts]

    _each_is_called(world, agents, hosts, (AGENT_DOMAIN,))


def _registered(world: World, name: str, uri: str) -> Agent:
    registered = world.gateway.register(world.agents.metadata(redirect_uris=[uri]) | {"client_name": name})
    if registered.status in range(400, 500):
        raise LeftOut("the gateway does not accept an agent of such a name or address")
    return world.agents.of(registered)


def _each_is_called(world: World, agents: list[Agent], own: list[str], usual: tuple[str, ...]) -> None:
    """The token of each agent has none of the others' values, and its own if the first one's has.

    The values may be written in another case.
    """
    world = world.in_one_browser()
    world.show(*own)
    told = False
    for number in (0, 1, 0):
        agent, wanted = agents[number], own[number].lower()
        found = agent_in(ext_of(world, world.grant(agent=agent)))
        names_the_agent(found, agent)
        texts = [text.lower() for text in strings_in(found)]
        for foreign in (own[1 - number], *usual):
            expect.that(
                not any(foreign.lower() in text for text in texts),
                "ext.agent",
                expected=f"{own[number]}, or none of its kind",
                got=foreign,
            )
        shown = any(wanted in text for text in texts)
        expect.that(shown or not told, "ext.agent", expected=own[number], got="no such value")
        told = told or shown
