"""The claim that no received answer contains secrets."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.kit.gateway.received import Received
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.exchange import Exchange


def no_secrets_in_answers(
    world: World, received: Received, *kinds: str, among: Sequence[Exchange] | None = None
) -> None:
    """No answer of the target in this check contains a secret of these kinds in a forbidden place."""
    what = kinds[0].replace("_", " ")
    known = received.minted(kinds[0])
    require.that(known > 0, "this run", expected=f"a {what} that can be searched for", got="none")
    exchanges = world.seen() if among is None else among
    found = received.leaks_of(exchanges, *kinds)

    expect.that(
        not found,
        f"{len(exchanges)} answers, searched for {what}s",
        expected="none where it must not be",
        got="; ".join(dict.fromkeys(leak.said() for leak in found[:4])),
    )
