"""The content of a registration answer, and the client secret in later answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.conformance.kit.gateway.gateway import CALLBACK, Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.wire.agent import fresh_verifier
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.leaks import carries

# Changes to the usual registration; the answer must have the same members.
SHAPES: Mapping[str, dict[str, Any]] = {
    "as-usual": {},
    "several-redirect-uris": {"redirect_uris": [CALLBACK, "https://agent.example/other"]},
    "without-the-refresh-grant": {"grant_types": ["authorization_code"]},
}

# Legal HTTPS URIs that a wrong gateway would normalize or reorder.
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
    """The registration answer has the six required fields with the right types."""
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
    """client_secret_expires_at is the integer 0, for different registrations."""
    record = _record(gateway, world, case)
    expires = record.get("client_secret_expires_at")

    expect.that(_integer(expires) and expires == 0, "client_secret_expires_at", expected="0", got=expires)


@check("REG-05")
def redirect_uri_comes_back(gateway: Gateway, world: World) -> None:
    """The answer contains the redirect URI that was sent."""
    record = require(world.agents.accepted(gateway.register(world.agents.metadata()))).json_object()

    expect.equal(record.get("redirect_uris"), [CALLBACK], "redirect_uris")


@check("REG-05", cases=EXACT_URIS)
def redirect_uris_come_back_exactly(gateway: Gateway, world: World, case: list[str]) -> None:
    """The answer contains each redirect URI as sent, not normalized. Their order is recorded."""
    answer = gateway.register(world.agents.metadata(redirect_uris=case))
    if answer.status in range(400, 500):
        raise LeftOut("the gateway does not accept these redirect URIs")
    record = require(world.agents.accepted(answer)).json_object()

    uris = record.get("redirect_uris")
    came = sorted(uris) if isinstance(uris, list) and all(isinstance(uri, str) for uri in uris) else uris
    expect.equal(came, sorted(case), "redirect_uris, in whatever order")
    observe(order_of_redirect_uris="as sent" if uris == case else "another")


@check("REG-10")
def client_secret_is_shown_once(world: World) -> None:
    """The client secret is in no later answer: discovery, authorization, tokens or errors."""
    world = world.in_one_browser()
    gateway, agent = world.gateway, world.agents.new()
    before = len(world.seen())
    # Each is refused for a different reason; a gateway may use up a code at the first refusal.
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
    """The answer contains the authentication method that was registered."""
    record = require(world.agents.accepted(gateway.register(world.agents.metadata()))).json_object()

    expect.equal(record.get("token_endpoint_auth_method"), "client_secret_post", "token_endpoint_auth_method")


def _record(gateway: Gateway, world: World, case: dict[str, Any]) -> dict[str, Any]:
    """The answer to a registration with these changes to the usual metadata."""
    return require(world.agents.accepted(_registered(gateway, world, case))).json_object()


def _registered(gateway: Gateway, world: World, case: dict[str, Any]) -> Exchange:
    answer = gateway.register(world.agents.metadata() | case)
    if case and answer.status in range(400, 500):
        raise LeftOut(f"the gateway does not accept a registration with these {', '.join(case)}")
    return world.agents.within_limits(answer)


def _integer(value: object) -> bool:
    """True for a JSON integer: 0 and 0.0 are the same number, true is none."""
    return not isinstance(value, bool) and (
        isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    )
