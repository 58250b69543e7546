"""The states hold over any history of what users, agents, operators, backends and the merchant do."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.conformance.histories.machine import explore
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.generated_input import Draw


@check("ROBUST-04", needs=["examples"])
def states_hold_over_generated_histories(anew: Callable[[], World], draw: Draw) -> None:
    """Whatever was registered, approved, declined, exchanged, redeemed and revoked before, each answer fits.

    What the target does not let a program do is left out of the histories.
    """
    explore(anew, draw, timed=False)


@check("ROBUST-04", needs=["examples", "merchant", "control:advance_clock"])
def states_hold_while_tokens_expire(anew: Callable[[], World], draw: Draw) -> None:
    """The same with a clock that moves, so that tokens expire, and are refreshed, rejected and mended."""
    explore(anew, draw, timed=True)
