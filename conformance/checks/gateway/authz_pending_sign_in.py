"""The user of a Pending agent can sign in: the gateway does not refuse before the sign-in."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._second_resource import of_one_merchant
from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect


@check("AUTHZ-07")
def user_signs_in_for_a_pending_agent(world: World) -> None:
    """In a new browser the user of a Pending agent signs in, at the first and at the second try.

    The gateway must ask for a password, as it does for an approved agent. Which page ends the sign-in is left
    open.
    """
    resource, home = world.projects.holding_resource(), world.projects.home().resource
    of_one_merchant(world, (home, resource))
    approved = world.gateway.visit(world.attempt(resource=home))
    require_code(world.gateway, approved)
    if not approved.passwords:
        raise LeftOut("the user of an approved agent is not asked for a password in a new browser")

    agent = world.agents.new()
    for which in ("first", "second"):
        visit = world.gateway.visit(world.attempt(agent, resource=resource), wherever=True)
        no_code(visit, f"{which} sign-in for a Pending agent")
        if visit.asks and not visit.passwords:
            raise LeftOut("the page for a Pending agent has a form that the harness cannot fill in")
        expect.that(
            bool(visit.passwords),
            f"{which} sign-in for a Pending agent, in a new browser",
            expected="a sign-in, with the password that it takes for an approved agent",
            got=f"none: {visit.outcome()}",
        )
