"""What the answer to a registration says, and what no later answer does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.conformance.checks.gateway._registrations import accepted
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire.agent import fresh_verifier
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.leaks import carries

# What an agent may register for beside the usual: what comes back has the same members.
SHAPES: Mapping[str, dict[str, Any]] = {
    "as-usual": {},
    "several-redirect-uris": {"redirect_uris": [CALLBACK, "https://agent.example/other"]},
    "without-the-refresh-grant": {"grant_types": ["authorization_code"]},
}

# Legal HTTPS URIs that a careless gateway would rewrite.
EXACT_URIS = {
    "several-in-order": ["https://agent.example/z", "https://agent.example/a", "https://agent.example/m"],
    "no-path": ["https://agent.example"],
    "trailing-slash": ["https://agent.example/callback/"],
    "query": ["https://agent.example/callback?tenant=1&b=%20x"],
    "port": ["https://agent.example:8443/callback"],
    "default-port": ["https://agent.example:443/callback"],
    "upper-case": ["https://Agent.example/CallBack"],
    "percent-encoding": ["https://agent.example/c%61llback/%2F"],
}


@check("REG-02", cases=SHAPES)
def answer_has_every_field(gateway: Gateway, world: World, case: dict[str, Any]) -> None:
    """The answer holds the six fields of the record, each of its type."""
    answer = require(_registered(gateway, world, case)).status(200, 201)
    record = expect(answer).json_object()

    for name in ("client_id", "client_secret", "token_endpoint_auth_method", "verification_method"):
        expect.text(record.get(name), name)
    expires = record.get("client_secret_expires_at")
    expect.that(_integer(expires), "client_secret_expires_at", expected="an integer", got=expires)
    uris = record.get("redirect_uris")
    good = isinstance(uris, list) and bool(uris) and all(isinstance(uri, str) for uri in uris)
    expect.that(good, "redirect_uris", expected="an array of strings", got=uris)


@check("REG-03", cases=SHAPES)
def secret_does_not_expire(gateway: Gateway, world: World, case: dict[str, Any]) -> None:
    """client_secret_expires_at is the integer 0, whatever the agent registers for."""
    record = _record(gateway, world, case)
    expires = record.get("client_secret_expires_at")

    expect.that(_integer(expires) and expires == 0, "client_secret_expires_at", expected="0", got=expires)


@check("REG-05")
def redirect_uri_comes_back(gateway: Gateway, world: World) -> None:
    """The redirect URI in the answer is the one that was sent."""
    record = require(accepted(gateway.register(world.agents.metadata()))).json_object()

    expect.equal(record.get("redirect_uris"), [CALLBACK], "redirect_uris")


@check("REG-05", cases=EXACT_URIS)
def redirect_uris_come_back_exactly(gateway: Gateway, world: World, case: list[str]) -> None:
    """Redirect URIs come back as they were sent: no normal form, no other order."""
    answer = gateway.register(world.agents.metadata(redirect_uris=case))
    if answer.status in range(400, 500):
        raise LeftOut("the gateway does not accept these redirect URIs")
    record = require(accepted(answer)).json_object()

    expect.equal(record.get("redirect_uris"), case, "redirect_uris")


@check("REG-10")
def client_secret_is_shown_once(world: World) -> None:
    """After registration the client secret is in no answer: discovery, authorization, tokens, errors."""
    world = world.in_one_browser()
    gateway, agent = world.gateway, world.agents.new()
    before = len(world.seen())
    # Each is refused for another reason, and a gateway may use a code up with the first of them.
    elsewhere = world.new_code(agent=agent)
    gateway.exchange(elsewhere, redirect_uri="https://agent.example/elsewhere")
    gateway.exchange(elsewhere, client_secret="gateproof-wrong")  # noqa: S106 - it is nobody's
    gateway.exchange(world.new_code(agent=agent), code_verifier=fresh_verifier())
    authorization = world.new_code(agent=agent)
    require(gateway.discovery(world.projects.home().resource)).status(200)
    require(gateway.exchange(authorization)).status(200)
    gateway.exchange(authorization)
    gateway.exchange(authorization, grant_type="unknown")
    gateway.register(world.agents.metadata())

    leaks = [
        f"{exchange.step} ({place})"
        for exchange in world.seen()[before:]
        if (place := carries(exchange, agent.client_secret))
    ]
    expect.that(
        not leaks,
        "answers after the registration",
        expected="no client secret",
        got=f"it is in: {', '.join(leaks)}",
    )


@check("REG-13")
def auth_method_comes_back(gateway: Gateway, world: World) -> None:
    """The answer confirms the authentication method that was registered."""
    record = require(accepted(gateway.register(world.agents.metadata()))).json_object()

    expect.equal(record.get("token_endpoint_auth_method"), "client_secret_post", "token_endpoint_auth_method")


def _record(gateway: Gateway, world: World, case: dict[str, Any]) -> dict[str, Any]:
    """What a registration gave that differs in this from the usual one."""
    return require(accepted(_registered(gateway, world, case))).json_object()


def _registered(gateway: Gateway, world: World, case: dict[str, Any]) -> Exchange:
    answer = gateway.register(world.agents.metadata() | case)
    if case and answer.status in range(400, 500):
        raise LeftOut(f"the gateway does not accept a registration with these {', '.join(case)}")
    return answer


def _integer(value: object) -> bool:
    """JSON knows one kind of number: 0 and 0.0 are both an integer, true is none."""
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )
