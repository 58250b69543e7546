"""Agents that register with various metadata, and request Proxy tokens with every authentication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe, require, values_of_choice
from gateproof.conformance.suite.parties import Agent, Grant
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire import client_assertions
from gateproof.conformance.wire.backend import basic
from gateproof.conformance.wire.client_assertions import AssertionKey
from gateproof.conformance.wire.exchange import Exchange

GRANT = ("grant_type", "client_credentials")
CC = "client_credentials"
CODE_AND_CC = ["authorization_code", "refresh_token", CC]


@dataclass(frozen=True, slots=True)
class Wish:
    """Changes to the usual registration metadata; None leaves a member out."""

    grant_types: list[str] | None
    auth_method: str | None
    more: Mapping[str, Any] | None = None

    def metadata(self, usual: dict[str, Any], key: AssertionKey) -> dict[str, Any]:
        changed = usual | {
            "grant_types": self.grant_types,
            "token_endpoint_auth_method": self.auth_method,
            **(self.more or {}),
        }
        if self.auth_method == "private_key_jwt":
            changed |= {"jwks": key.key_set(), "token_endpoint_auth_signing_alg": "ES256"}
        return {name: value for name, value in changed.items() if value is not None}


USUAL = ["authorization_code", "refresh_token"]
WISHES: Mapping[str, Wish] = {
    "post": Wish(CODE_AND_CC, "client_secret_post"),
    "basic": Wish(CODE_AND_CC, "client_secret_basic"),
    "none": Wish(CODE_AND_CC, "none"),
    "secret-jwt": Wish(CODE_AND_CC, "client_secret_jwt"),
    "key-jwt": Wish(CODE_AND_CC, "private_key_jwt"),
    "no-method": Wish(CODE_AND_CC, None),
    "that-grant-alone": Wish([CC], "client_secret_post", {"response_types": []}),
    "that-grant-alone-with-basic": Wish([CC], "client_secret_basic", {"response_types": []}),
    "no-grants": Wish(None, "client_secret_post"),
    "usual-grants-with-basic": Wish(USUAL, "client_secret_basic"),
    "usual-grants-with-key-jwt": Wish(USUAL, "private_key_jwt"),
    "web-service": Wish(CODE_AND_CC, "client_secret_post", {"application_type": "service"}),
}


@check("PROXY-08", cases=WISHES)
def agent_gets_no_proxy_token_however_it_registers(gateway: Gateway, world: World, case: Wish) -> None:
    """Whatever grants and method an agent registers, it gets no token by client_credentials that redeems.

    The agent tries every authentication: form, Basic, both, assertions, and its client ID alone. Tokens that
    do not redeem are recorded.
    """
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    key = AssertionKey()
    registered = gateway.register(case.metadata(world.agents.metadata(), key))
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return
    # A gateway may know an agent's Project only from its first authorization, which may give no code here.
    agent = _agent(world, registered)
    world.in_one_browser().gateway.visit(world.attempt(agent, resource=grant.resource), wherever=True)
    given, redeeming = list[str](), list[str]()
    for name, fields, headers in _requests(gateway, registered, grant, key):
        answer = gateway.token_request([GRANT, *fields], *headers)
        token = answer.member("access_token")
        if not isinstance(token, str) or not token:
            continue
        given.append(name)
        redeemed = gateway.redeem(
            grant.access_token, gateway.keyring.secret("access_token", token), grant.resource.indicator
        )
        if redeemed.status == 200 or redeemed.member("access_token"):
            redeeming.append(name)
    expect.that(
        not redeeming,
        "redemption with a token that an agent got by itself",
        expected="a refusal",
        got=f"a merchant token, for the token that it got with {', '.join(redeeming)}",
    )
    observe(tokens_that_do_not_redeem=", ".join(given) or "none")


def _agent(world: World, registered: Exchange) -> Agent:
    """The registered agent, with a placeholder secret if it got none."""
    with values_of_choice():
        require(registered).status(200, 201)
    client_id = require.text(registered.member("client_id"), "client_id of the registration")
    secret = registered.member("client_secret") or "gateproof-none-was-given"
    return Agent(
        client_id=client_id,
        client_secret=world.gateway.keyring.secret("client_secret", str(secret)),
        redirect_uris=tuple(world.agents.metadata()["redirect_uris"]),
    )


def _requests(
    gateway: Gateway, registered: Exchange, grant: Grant, key: AssertionKey
) -> Iterator[tuple[str, list[tuple[str, str]], list[tuple[str, str]]]]:
    """Every way to authenticate: its name, the form fields and the headers."""
    client_id = require.text(registered.member("client_id"), "client_id of the registration")
    secret = registered.member("client_secret")
    audience = agent_wire.token_endpoint(gateway.core_url)
    named = [("client_id", client_id)]
    yield "its client ID alone", named, []
    yield "an empty secret by Basic", [], [basic(client_id, "")]
    yield (
        "an assertion by its key",
        [*named, *client_assertions.fields(key.assertion(client_id, audience))],
        [],
    )
    if not isinstance(secret, str) or not secret:
        return
    form = [*named, ("client_secret", secret)]
    meant = [("resource", grant.resource.indicator), ("audience", grant.resource.indicator)]
    yield "the form", form, []
    yield "Basic", [], [basic(client_id, secret)]
    yield "Basic and its client ID", named, [basic(client_id, secret)]
    yield "form and Basic", form, [basic(client_id, secret)]
    yield "the form and a Resource", [*form, *meant], []
    yield "Basic and a Resource", meant, [basic(client_id, secret)]
    yield "the form and a Project", [*form, ("project_id", grant.resource.project_id)], []
    yield "Basic and a Project", [("project_id", grant.resource.project_id)], [basic(client_id, secret)]
    by_secret = client_assertions.by_secret(client_id, secret, audience)
    yield "an assertion by its secret", [*named, *client_assertions.fields(by_secret)], []
