"""Authorization at a second Resource and in a second Project works like at the first."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.checks.gateway._second_project import agents_for
from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Resource


@check("AUTHZ-01", needs=["resources:2"])
def another_resource_gives_a_code_too(world: World) -> None:
    """An agent that got a code for one Resource also gets one for a second Resource."""
    _codes_come(world, of_one_merchant(world, world.projects.two_resources()))


@check("AUTHZ-01", needs=["two-projects"])
def another_project_gives_a_code_too(world: World) -> None:
    """A second Project gives a code to an agent of its own: an agent may belong to one Project only."""
    both = world.projects.home().resource, world.projects.another().resource
    _codes_come(world, of_one_merchant(world, both))


def _codes_come(world: World, resources: Sequence[Resource]) -> None:
    world, agents = world.in_one_browser(), agents_for(world, resources)
    for which, agent, resource in zip(("first", "second"), agents, resources, strict=True):
        visit = world.gateway.visit(world.attempt(agent, resource=resource))
        code_came(visit, f"authorization at the {which} Resource, {resource.indicator}")
