"""Codes that are exchanged at the same moment: one by many, and several by their agent."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gateproof.conformance.checks.gateway._exchanges import TOKENS, proven
from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.suite.races import FEW, Races, arrived, nobody_is_turned_down
from gateproof.conformance.wire.exchange import Exchange


@check("CODE-10", cases={"fresh-connections": False, "connections-that-served-before": True}, rounds=5)
def one_code_gives_tokens_once(world: World, case: bool, races: Races) -> None:
    """Of many exchanges of one code that arrive at the same moment, at most one gives tokens.

    Each round has a code of its own. An exchange of another code by the same agent has just worked.
    """
    world, authorization = proven(world)
    for _ in races.each():
        if case:
            concurrent.warmed(world.gateway, races.racers)
        answers = concurrent.exchanges(world.gateway, [authorization] * races.racers, kept=case)

        granted = [answer for answer in answers if _has_tokens(answer)]
        expect.that(
            len(granted) <= 1,
            f"one code in {len(answers)} exchanges at the same moment",
            expected="tokens for one of them at most",
            got=f"tokens for {len(granted)}",
        )
        _judged(arrived(answers))
        authorization = world.code_for(world.attempt(authorization.agent))


@check("CODE-01", rounds=4)
def several_codes_give_tokens_at_once(world: World, races: Races) -> None:
    """Codes of one agent are exchanged at the same moment as they are one after the other.

    The newest comes first where they come in turn: a gateway may have older ones end with it.
    """
    world = world.in_one_browser()
    agent = world.agents.new()
    good_for_s = _in_turn(world, agent, 0)
    for _ in races.each():
        begun = time.monotonic()
        answers = concurrent.exchanges(world.gateway, _codes(world, agent))
        lasted_s = time.monotonic() - begun
        if lasted_s > good_for_s:
            good_for_s = _in_turn(world, agent, lasted_s)

        nobody_is_turned_down(arrived(answers), "the exchange of a code beside others of the same agent")


def _in_turn(world: World, agent: Agent, within_s: float) -> float:
    """How old the first of some codes was when it gave tokens, after the others; as old as this at least.

    How long codes live is open, and a busy machine may take its time over a race.
    """
    begun = time.monotonic()
    codes = _codes(world, agent)
    time.sleep(max(0.0, begun + within_s - time.monotonic()))
    for authorization in reversed(codes):
        if world.gateway.exchange(authorization).status != 200:
            raise LeftOut("an agent's codes do not stand beside each other here, or not for as long")
    return time.monotonic() - begun


def _codes(world: World, agent: Agent) -> list[Authorization]:
    return [world.code_for(world.attempt(agent)) for _ in range(FEW)]


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
