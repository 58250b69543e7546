"""Used codes after the target was killed and started again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.kit.gateway.restarts import kill_and_start
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, require


@check("CODE-02", needs=["restart"])
def used_code_stays_used_after_a_restart(world: World) -> None:
    """A code that was used before a restart gives no tokens after it, while an unused one still does."""
    there = world.instance().world()
    used, unused = there.new_code(), there.new_code()
    require(there.gateway.exchange(used)).status(200)
    kill_and_start(world)

    no_tokens(there.gateway.exchange(used), "a code that was used before a restart")
    if there.gateway.exchange(unused).status != 200:
        raise LeftOut("codes from before a restart do not work after it, not even unused ones")
