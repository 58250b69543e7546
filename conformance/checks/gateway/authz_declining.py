"""An earlier approval does not override a later decline."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut


@check("AUTHZ-16", cases=("in-a-new-browser", "signed-in"))
def user_who_approved_before_may_decline_now(world: World, case: str) -> None:
    """A user who approved an agent and later declines it gives it no second code.

    The gateway may remember the approval. It may still show a decline button for something else.
    """
    signed_in = world.in_one_browser()
    agent = signed_in.new_code().agent
    asker = signed_in if case == "signed-in" else world
    new, again = (asker.gateway.visit(asker.attempt(each)) for each in (asker.agents.new(), agent))
    visit = asker.gateway.visit(asker.attempt(agent), approve=False, wherever=True)
    if not visit.declined or (again.acts or 0) < (new.acts or 0):
        raise LeftOut("there was nothing to decline: the gateway may remember that the user approved")

    no_code(visit, "authorization that the user declined, after approving the same agent before")
