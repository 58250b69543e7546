"""An agent that comes again and again in a browser that stays signed in: its sign-ins are short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateproof.conformance.kit.gateway.worker_state import ReusedAgent
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.wire.secret import Secret

if TYPE_CHECKING:
    from gateproof.conformance.kit.gateway.gateway import SignIn

# Every authorization that is given up may leave a cookie behind; no browser collects them for ever.
MOST_VISITS = 20


def regular(world: World, *, verifier: str | None = None) -> tuple[World, Authorization]:
    """A code that the agent has been given in this very check, and a world in the browser that gave it.

    Both are kept from check to check, because near misses are many and whole sign-ins cost most of a run. A
    check that finds them of no use makes new ones, so no check depends on what another did.
    """
    kept = world.standing.regular
    if kept is not None and kept.visits < MOST_VISITS:
        kept.visits += 1
        _introduce(world, kept.agent)
        there = _in_browser(world, kept.sign_in)
        attempt = there.attempt(kept.agent, verifier=verifier)
        code = there.gateway.visit(attempt).parameter("code")
        if code:
            return there, there.authorization_of(attempt, code)
    there = world.in_one_browser()
    authorization = there.code_for(there.attempt(verifier=verifier))
    world.standing.regular = ReusedAgent(agent=authorization.agent, sign_in=there.gateway.sign_in)
    return there, authorization


def _in_browser(world: World, sign_in: SignIn) -> World:
    gateway = world.gateway
    # A way to sign in that is no browser of the harness belongs to the check at hand.
    return world if gateway.new_browser is None else replace(world, gateway=replace(gateway, sign_in=sign_in))


def _introduce(world: World, agent: Agent) -> None:
    """Lets this check's reports hide the agent's secret, and show its name."""
    world.gateway.keyring.add(Secret("client_secret", agent.client_secret.reveal()))
    world.gateway.keyring.public(agent.client_id)
