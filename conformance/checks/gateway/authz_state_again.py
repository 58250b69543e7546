"""`state` in a browser in which the user is already signed in."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._states import STATES, state_came_back
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check

_SOME = {name: STATES[name] for name in ("ordinary", "reserved")}


@check("AUTHZ-02", needs=["sign-in:browser"], cases=_SOME)
def state_comes_back_without_another_sign_in(world: World, case: object) -> None:
    """In a signed-in browser, `state` comes back as sent, for an approved agent and for a new one."""
    here = world.in_one_browser()
    agent = here.agents.new()
    require_code(here.gateway, here.gateway.visit(here.attempt(agent)))
    for asking in (agent, here.agents.new()):
        state = case() if callable(case) else ""
        here.show(state)
        state_came_back(here.gateway.visit(here.attempt(asking, state=state)), state)
