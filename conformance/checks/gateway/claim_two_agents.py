"""`ext.agent` in the tokens of two agents with the same name or the same domain."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._tokens import agent_in, ext_of
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.parties import Agent
from gateproof.conformance.wire.documents import strings_in


@check("CLAIM-07", cases=("name", "domain"))
def agent_does_not_go_by_another_ones(world: World, case: str) -> None:
    """`ext.agent` does not contain the name or the domain of another agent with the same domain or name."""
    marks, shared = (world.unique(), world.unique()), world.unique()
    agents = [
        _agent(world, name=mark, host=shared) if case == "name" else _agent(world, name=shared, host=mark)
        for mark in marks
    ]
    for own in (0, 1, 0):
        found = agent_in(ext_of(world, world.grant(agent=agents[own])))

        foreign = marks[1 - own]
        expect.that(
            not any(foreign in text for text in strings_in(found)),
            "ext.agent",
            expected=f"the {case} of its own agent, or none",
            got=f"the {case} of another agent",
        )


def _agent(world: World, *, name: str, host: str) -> Agent:
    metadata = world.agents.metadata(redirect_uris=[f"https://{host}.example/callback"])
    return world.agents.of(world.gateway.register({**metadata, "client_name": f"Agent {name}"}))
