"""The gateway's answers at every step of a flow with an odd value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.kit.robust_answers import is_robust
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import origin

_BUSY_S = 1.0


def flow_is_robust(world: World, flow: Callable[[], object], what: str) -> None:
    """Expects that each step of the flow gets an answer in time, and no server error.

    503 means "later": other checks may have sent a flood. Such a flow is repeated once, and counts then.
    """
    asked = _answers(world, flow)
    if any(each.status == 503 for each in asked):
        wait_for(Cause.RECOVERY, _BUSY_S)
        asked = _answers(world, flow)
    all_are_robust(asked, what)


def all_are_robust(asked: Sequence[Exchange], what: str) -> None:
    """Expects answers in time, and no server error; at least one request has to be there."""
    bad = [each for each in asked if not is_robust(each)]
    expect.that(
        bool(asked) and not bad,
        what,
        expected="an answer in time and below 500 at every step",
        got="; ".join(f"{each.step}: {each.outcome()}" for each in bad[:3]) or "no request",
        exchange=bad[0] if bad else None,
    )


def sent_to_the_gateway(world: World, before: int = 0) -> list[Exchange]:
    """The exchanges of this check with the gateway itself, after the first `before` of all."""
    own = {origin(world.gateway.base_url), origin(world.gateway.core_url)}
    return [each for each in list(world.seen())[before:] if origin(each.request.url) in own]


def _answers(world: World, flow: Callable[[], object]) -> list[Exchange]:
    before = len(world.seen())
    flow()
    return sent_to_the_gateway(world, before)
