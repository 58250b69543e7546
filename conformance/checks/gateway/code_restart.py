"""Used codes at a target that was killed and started again."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.kit.gateway.restarts import after_a_restart
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check


@check("CODE-02", needs=["restart"])
def used_code_stays_used_after_a_restart(world: World) -> None:
    """A code that was used before a restart gives no tokens after it, where a new code does."""
    there, kept = after_a_restart(world)
    there.grant()

    no_tokens(there.gateway.exchange(kept.spent), "a code that was used before a restart")
