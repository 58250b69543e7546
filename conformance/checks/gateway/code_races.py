"""One code, and many who exchange it at the same moment."""

from __future__ import annotations

from collections.abc import Sequence

from conformance import crowd
from conformance.check import check
from conformance.checks.gateway._exchanges import TOKENS, proven
from conformance.claims import expect, require
from conformance.racing import Races, arrived
from conformance.wire.exchange import Exchange
from conformance.world import World


@check("CODE-10", cases={"fresh-connections": False, "connections-that-served-before": True})
def one_code_gives_tokens_once(world: World, case: bool, races: Races) -> None:
    """Of many exchanges of one code that arrive at the same moment, at most one gives tokens.

    Each round has a code of its own. An exchange of another code by the same agent has just worked.
    """
    world, authorization = proven(world)
    for _ in races.each():
        if case:
            crowd.warmed(world.gateway, races.racers)
        answers = crowd.exchanges(world.gateway, [authorization] * races.racers, kept=case)

        granted = [answer for answer in answers if _has_tokens(answer)]
        expect.that(
            len(granted) <= 1,
            f"one code in {len(answers)} exchanges at the same moment",
            expected="tokens for one of them at most",
            got=f"tokens for {len(granted)}",
        )
        _judged(arrived(answers))
        authorization = world.approved(world.attempt(authorization.agent))


def _has_tokens(answer: Exchange) -> bool:
    return any(answer.member(name) is not None for name in TOKENS)


def _judged(answers: Sequence[Exchange]) -> None:
    """Somebody looked at the code: a target that turned everybody away says nothing about it."""
    looked = [answer.status for answer in answers if answer.status is not None and answer.status < 500]
    require.that(
        any(status != 429 for status in looked),
        "answers of the race",
        expected="tokens or a refusal for one of them at least",
        got=", ".join(sorted({answer.outcome() for answer in answers})),
    )
