"""Authorization at a second Resource and in a second Project: what works at home works there too."""

from __future__ import annotations

from collections.abc import Iterable

from gateproof.conformance.checks.gateway._elsewhere import of_one_merchant
from gateproof.conformance.checks.gateway._visits import code_came
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.parties import Resource


@check("AUTHZ-01", needs=["resources:2"])
def another_resource_gives_a_code_too(world: World) -> None:
    """An agent that got its code for one Resource gets one for the next."""
    _codes_come(world, of_one_merchant(world, world.projects.two_resources()))


@check("AUTHZ-01", needs=["two-projects"])
def another_project_gives_a_code_too(world: World) -> None:
    """An agent that got its code in one Project gets one in the next."""
    both = world.projects.home().resource, world.projects.another().resource
    _codes_come(world, of_one_merchant(world, both))


def _codes_come(world: World, resources: Iterable[Resource]) -> None:
    world = world.in_one_browser()
    agent = world.agents.new()
    for which, resource in zip(("first", "second"), resources, strict=True):
        visit = world.gateway.visit(world.attempt(agent, resource=resource))
        code_came(visit, f"authorization at the {which} Resource, {resource.indicator}")
