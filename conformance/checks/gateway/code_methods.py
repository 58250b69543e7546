"""Agents do not authenticate by HTTP Basic, whatever method they register."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.gateway._exchanges import no_tokens
from gateproof.conformance.checks.gateway.reg_methods import METHODS, Change
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require, values_of_choice
from gateproof.conformance.wire.backend import basic

# Registrations for which a gateway may choose Basic, the default method of RFC 7591.
REGISTRATIONS: Mapping[str, Change] = {
    **{name: METHODS[name] for name in ("left-out", "null", "empty", "unknown", "none")},
    "basic-in-upper-case": lambda metadata: metadata | {"token_endpoint_auth_method": "CLIENT_SECRET_BASIC"},
}


@check("CODE-09", cases=REGISTRATIONS)
def credentials_in_a_header_are_refused_for_any_method(gateway: Gateway, world: World, case: Change) -> None:
    """Whatever method an agent registers, its correct credentials by HTTP Basic give it no tokens.

    The gateway may refuse the registration. The positive twin is an agent with the usual metadata.
    """
    world.grant()
    world = world.in_one_browser()
    registered = gateway.register(case(world.agents.metadata()))
    if registered.status in range(400, 500):
        expect(registered).not_granted("a client", "client_id", "client_secret")
        return
    with values_of_choice():
        require(require(registered).status(200, 201)).json_object()
    if not isinstance(registered.member("client_secret"), str):
        raise LeftOut("an agent with this registration gets no secret")
    agent = world.agents.of(registered)
    header = basic(agent.client_id, agent.client_secret.reveal())
    for named in (True, False):
        attempt = world.attempt(agent)
        code = world.gateway.visit(attempt, wherever=True).parameter("code")
        if not code:
            raise LeftOut("an agent with this registration gets no code")
        fields = world.gateway.exchange_fields(world.authorization_of(attempt, code))
        kept = {"client_secret": None, **({} if named else {"client_id": None})}
        form = [(name, value) for name, value in {**fields, **kept}.items() if value is not None]

        answer = world.gateway.token_request(form, header)
        no_tokens(answer, "the credentials of such an agent in a Basic header")
