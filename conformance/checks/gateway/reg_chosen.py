"""Registrations that name values which the gateway must choose."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateproof.conformance.checks.gateway._exchanges import TOKENS
from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe, require
from gateproof.conformance.wire.exchange import Exchange

# Times in seconds (RFC 7591), in the far past and future. The last is a string, which is no valid time.
EXPIRIES: Mapping[str, Any] = {"long-ago": 1, "far-away": 4102444800, "as-a-string": "4102444800"}

# Members by which an agent might declare itself approved.
APPROVALS: Mapping[str, dict[str, Any]] = {
    "approved": {"approved": True},
    "status": {"status": "approved"},
    "status-active": {"status": "active"},
    "state": {"state": "approved"},
    "pending": {"pending": False},
    "agent-policy": {"agent_policy": "approve"},
    "verification-method": {"verification_method": "approved", "verified": True},
    "trusted": {"trusted": True, "first_party": True, "skip_consent": True},
}

# Shorter ones are messages of one word.
SHORTEST_SECRET = 20


@check("REG-09")
def nobody_chooses_a_free_client_id(gateway: Gateway, world: World) -> None:
    """A registration that names an unused client_id gets another one, and the named one gets no code."""
    world = world.in_one_browser()
    twin = world.agents.new()
    world.new_code(agent=twin)
    chosen = f"{twin.client_id[:3]}{secrets.token_hex(12)}"

    answer = gateway.register({**world.agents.metadata(), "client_id": chosen})

    _other_than(world, answer, "client_id", chosen)
    named = replace(twin, client_id=chosen)
    no_code(world.gateway.visit(world.attempt(named), wherever=True), "authorization of the named client_id")


@check("REG-09")
def nobody_chooses_a_secret(gateway: Gateway, world: World) -> None:
    """A registration that names a client_secret gets another one, and the named one gives no tokens."""
    world = world.in_one_browser()
    chosen = gateway.keyring.secret("chosen_secret", secrets.token_urlsafe(32))
    world.agents.accepted(gateway.register(world.agents.metadata()))
    answer = gateway.register({**world.agents.metadata(), "client_secret": chosen.reveal()})
    _other_than(world, answer, "client_secret", chosen.reveal())
    if answer.status in range(400, 500):
        return

    agent = world.agents.of(answer)
    require(gateway.exchange(world.new_code(agent=agent))).status(200)
    refused = gateway.exchange(world.new_code(agent=agent), client_secret=chosen.reveal())
    expect(replace(refused, step="exchange with the secret that was named")).not_granted("tokens", *TOKENS)


@check("REG-09", cases=EXPIRIES)
def nobody_chooses_when_a_secret_expires(gateway: Gateway, world: World, case: Any) -> None:
    """A registration that names client_secret_expires_at gets 0, and a secret that works."""
    world = world.in_one_browser()
    twin = gateway.register(world.agents.metadata())
    require(gateway.exchange(world.new_code(agent=world.agents.of(twin)))).status(200)
    answer = gateway.register({**world.agents.metadata(), "client_secret_expires_at": case})
    if answer.status in range(400, 500):
        expect(answer).not_granted("a client", "client_id", "client_secret")
        return
    expires = world.agents.accepted(answer).member("client_secret_expires_at")
    # If the gateway never returns 0, REG-03 fails; here only the named value is a failure then.
    never = _zero(expires) if _zero(twin.member("client_secret_expires_at")) else expires != case
    expect.that(never, "client_secret_expires_at of a registration that names one", expected="0", got=expires)

    tokens = gateway.exchange(world.new_code(agent=world.agents.of(answer)))

    expect(replace(tokens, step="exchange of an agent that named an expiry")).status(200)


@check("REG-09", cases=APPROVALS)
def nobody_approves_itself(world: World, case: dict[str, Any]) -> None:
    """An agent that declares itself approved at registration gets no code in a Project that holds agents."""
    world = world.in_one_browser()
    world.new_code()
    resource = world.projects.holding_resource()
    answer = world.gateway.register(world.agents.metadata() | case)
    if answer.status in range(400, 500):
        expect(answer).not_granted("a client", "client_id", "client_secret")
        return

    attempt = world.attempt(world.agents.of(answer), resource=resource)

    no_code(
        world.gateway.visit(attempt, wherever=True), "sign-in for a Pending agent that calls itself approved"
    )


@check("REG-11")
def how_a_registration_that_names_a_project_is_answered(gateway: Gateway, world: World) -> None:
    """Records the answer to a registration with a member that names a Project."""
    project = world.projects.home().id
    answer = gateway.register(world.agents.metadata() | {"project_id": project})

    observe(project_named=answer.status or 0, project_comes_back=answer.member("project_id") == project)


def _zero(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def _other_than(world: World, answer: Exchange, name: str, chosen: str) -> None:
    """The registration was refused, or gave a value that the request did not name.

    A refusal may say what is wrong with the named member under its name.
    """
    if answer.status in range(400, 500):
        expect(answer).not_granted("a client", *({"client_id", "client_secret"} - {name}))
        said = answer.member(name)
        expect.that(
            not isinstance(said, str) or " " in said or len(said) < SHORTEST_SECRET,
            f"{name} of a refused registration that names one",
            expected="a message, or nothing",
            got="a value like a client_id or secret",
        )
        return
    value = require.text(world.agents.accepted(answer).member(name), name)
    expect.that(
        value != chosen,
        f"{name} of a registration that names one",
        expected="another, or a refusal",
        got="the one that was named",
    )
