"""Concurrent exchanges: of one code, and of several codes of one agent."""

from __future__ import annotations

import time
from collections.abc import Sequence

from gateproof.conformance.checks.gateway._exchanges import TOKENS, code_after_working_exchange
from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.suite.races import FEW, Races, expect_all_accepted, require_answers
from gateproof.conformance.wire.exchange import Exchange


@check("CODE-10", cases={"fresh-connections": False, "connections-that-served-before": True}, rounds=5)
def one_code_gives_tokens_once(world: World, case: bool, races: Races) -> None:
    """Of many concurrent exchanges of one code, at most one returns tokens.

    Each round has its own code. The same agent has just exchanged another code successfully.
    """
    world, authorization = code_after_working_exchange(world)
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
        _some_answer_is_about_the_code(require_answers(answers))
        authorization = world.code_for(world.attempt(authorization.agent))


@check("CODE-01", rounds=4)
def several_codes_give_tokens_at_once(world: World, races: Races) -> None:
    """Concurrent exchanges of different codes of one agent all return tokens.

    Such codes are first exchanged one after the other, the newest first, because a new code may invalidate
    older ones.
    """
    world = world.in_one_browser()
    agent = world.agents.new()
    good_for_s = _exchanged_one_by_one(world, agent, 0)
    for _ in races.each():
        begun = time.monotonic()
        answers = concurrent.exchanges(world.gateway, _codes(world, agent))
        lasted_s = time.monotonic() - begun
        if lasted_s > good_for_s:
            good_for_s = _exchanged_one_by_one(world, agent, lasted_s)

        expect_all_accepted(
            require_answers(answers), "the exchange of a code beside others of the same agent"
        )


def _exchanged_one_by_one(world: World, agent: Agent, within_s: float) -> float:
    """The age of the oldest code when it was exchanged, after the others; at least `within_s`.

    The lifetime of codes is the gateway's choice, and a race can be slow on a busy machine.
    """
    begun = time.monotonic()
    codes = _codes(world, agent)
    time.sleep(max(0.0, begun + within_s - time.monotonic()))
    for authorization in reversed(codes):
        if world.gateway.exchange(authorization).status != 200:
            raise LeftOut(
                "the gateway does not keep several codes of an agent valid at once, or not long enough"
            )
    return time.monotonic() - begun


def _codes(world: World, agent: Agent) -> list[Authorization]:
    return [world.code_for(world.attempt(agent)) for _ in range(FEW)]


def _has_tokens(answer: Exchange) -> bool:
    return any(answer.member(name) for name in TOKENS)


def _some_answer_is_about_the_code(answers: Sequence[Exchange]) -> None:
    """At least one answer is about the code: if the target refuses all requests, the race shows nothing."""
    looked = [answer.status for answer in answers if answer.status is not None and answer.status < 500]
    require.that(
        any(status != 429 for status in looked),
        "answers of the race",
        expected="tokens or a refusal for one of them at least",
        got=", ".join(sorted({answer.outcome() for answer in answers})),
    )
