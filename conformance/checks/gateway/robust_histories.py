"""Generated sequences of operations, checked against a model of the state table."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.conformance.histories.machine import explore
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.generated_input import Draw


@check("ROBUST-04", needs=["examples"])
def states_hold_over_generated_histories(anew: Callable[[], World], draw: Draw) -> None:
    """In generated sequences of operations, every answer matches the model of the state table.

    The operations are those of users, agents, operators, backends and the merchant; those for which the
    target has no control are left out.
    """
    explore(anew, draw, timed=False)


@check("ROBUST-04", needs=["examples", "merchant", "control:advance_clock"], waits_s=2)
def states_hold_while_tokens_expire(anew: Callable[[], World], draw: Draw) -> None:
    """Answers match the model also when the clock moves and tokens expire, are refreshed and are lost."""
    explore(anew, draw, timed=True)
