"""A code for an unusual redirect URI is exchanged with that URI."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._unusual_uris import UNUSUAL
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, values_of_choice


@check("CODE-01", cases=UNUSUAL)
def code_of_an_unusual_uri_is_exchanged_with_it(world: World, case: str) -> None:
    """The code of an unusual redirect URI, if the gateway registers it, is exchanged with that URI."""
    world.show(case)
    here = world.in_one_browser()
    expect(here.gateway.exchange(here.new_code())).status(200)
    agent = here.agents.new_if_accepted(case)
    with values_of_choice():
        authorization = here.new_code(agent=agent)

    expect(here.gateway.exchange(authorization)).status(200)
