"""A registered agent in a signed-in browser, reused by several checks: its sign-ins are short."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gateproof.conformance.kit.gateway.worker_state import ReusedAgent
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.parties import Agent, Authorization
from gateproof.conformance.wire.secret import Secret

if TYPE_CHECKING:
    from gateproof.conformance.kit.gateway.gateway import SignIn

# Each unfinished authorization may leave a cookie, so the browser is replaced after this many.
MOST_VISITS = 20


def reused_authorization(world: World, *, verifier: str | None = None) -> tuple[World, Authorization]:
    """A code that the agent got in this check, and a world with the browser that got it.

    Agent and browser are kept between checks, because whole sign-ins would take most of the run. If they do
    not work any more, new ones are made, so no check depends on another.
    """
    kept = world.worker_state.reused_agent
    if kept is not None and kept.visits < MOST_VISITS:
        kept.visits += 1
        _register_names(world, kept.agent)
        there = _in_browser(world, kept.sign_in)
        attempt = there.attempt(kept.agent, verifier=verifier)
        code = there.gateway.visit(attempt).parameter("code")
        if code:
            return there, there.authorization_of(attempt, code)
    there = world.in_one_browser()
    authorization = there.code_for(there.attempt(verifier=verifier))
    world.worker_state.reused_agent = ReusedAgent(agent=authorization.agent, sign_in=there.gateway.sign_in)
    return there, authorization


def _in_browser(world: World, sign_in: SignIn) -> World:
    gateway = world.gateway
    # Without a browser of the harness, the check's own sign-in is used.
    return world if gateway.new_browser is None else replace(world, gateway=replace(gateway, sign_in=sign_in))


def _register_names(world: World, agent: Agent) -> None:
    """Registers the agent's secret for redaction, and its client_id as a public name."""
    world.gateway.keyring.add(Secret("client_secret", agent.client_secret.reveal()))
    world.gateway.keyring.public(agent.client_id)
