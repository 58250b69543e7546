"""Agents must authenticate at the token endpoint, whatever method they register."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gateproof.conformance.checks.gateway._exchanges import TOKENS
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require, values_of_choice
from gateproof.conformance.suite.parties import Agent
from gateproof.conformance.wire.forgery import own_jwk

Change = Callable[[dict[str, Any]], dict[str, Any]]


def _method(name: str) -> Change:
    return lambda metadata: metadata | {"token_endpoint_auth_method": name}


def _with_a_key(name: str) -> Change:
    return lambda metadata: (
        metadata | {"token_endpoint_auth_method": name, "jwks": {"keys": [own_jwk("ES256", kid="gateproof")]}}
    )


# Changes to a valid registration. The proofs of other methods are not sent in the exchange either.
METHODS: Mapping[str, Change] = {
    "none": _method("none"),
    "none-in-upper-case": _method("NONE"),
    "unknown": _method("gateproof_unknown"),
    "empty": _method(""),
    "null": lambda metadata: metadata | {"token_endpoint_auth_method": None},
    "left-out": lambda metadata: {
        name: value for name, value in metadata.items() if name != "token_endpoint_auth_method"
    },
    "private-key": _with_a_key("private_key_jwt"),
    "secret-key": _method("client_secret_jwt"),
    "certificate": lambda metadata: (
        _method("tls_client_auth")(metadata) | {"tls_client_auth_subject_dn": "CN=agent.example"}
    ),
    "own-certificate": _with_a_key("self_signed_tls_client_auth"),
    "none-for-a-native-application": lambda metadata: (
        metadata | {"token_endpoint_auth_method": "none", "application_type": "native"}
    ),
}
# The value of client_secret in the form; None leaves it out, "client_id" stands for the client ID.
WITHOUT: Mapping[str, str | None] = {
    "no-secret": None,
    "empty-secret": "",
    "client-id-as-secret": "client_id",
}


@check("REG-15", cases=METHODS)
def exchange_without_a_secret_gives_no_tokens(gateway: Gateway, world: World, case: Change) -> None:
    """Whatever method an agent registers, an exchange without its secret in the body gives no tokens.

    The gateway may refuse the registration. The positive twin is an agent with the usual metadata.
    """
    world.grant()
    world = world.in_one_browser()
    registered = gateway.register(case(world.agents.metadata()))
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return
    agent = agent_of(world, registered)
    for name, instead in WITHOUT.items():
        attempt = world.attempt(agent)
        code = world.gateway.visit(attempt, wherever=True).parameter("code")
        if not code:
            raise LeftOut("an agent with this registration gets no code")
        secret = agent.client_id if instead == "client_id" else instead
        answer = gateway.exchange(world.authorization_of(attempt, code), client_secret=secret)

        expect(replace(answer, step=f"exchange with {name}")).not_granted("tokens", *TOKENS)


def agent_of(world: World, registered: Any) -> Agent:
    """The registered agent, with a placeholder secret if it got none."""
    with values_of_choice():
        record = require(require(registered).status(200, 201)).json_object()
    if not isinstance(record.get("client_secret"), str):
        client_id = require.text(record.get("client_id"), "client_id of the registration")
        secret = world.gateway.keyring.secret("client_secret", "gateproof-none-was-given")
        return Agent(
            client_id=client_id,
            client_secret=secret,
            redirect_uris=tuple(world.agents.metadata()["redirect_uris"]),
        )
    return world.agents.of(registered)
