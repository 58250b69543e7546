"""The Proxy token: which clients get one."""

from __future__ import annotations

import secrets
from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe, require
from gateproof.conformance.suite.parties import Grant, ProxyClient
from gateproof.conformance.wire import backend as backend_wire
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.secret import Secret

# The grant type of RFC 6749 section 4.4.
GRANT = ("grant_type", "client_credentials")


@check("PROXY-01")
def basic_and_client_credentials_give_a_token(gateway: Gateway, world: World) -> None:
    """A Proxy client with HTTP Basic and client_credentials gets a token, its type and its lifetime."""
    answer = gateway.proxy_token(world.projects.home().proxy_client)

    expect(answer).status(200)
    expect(answer).json_object()
    expect.text(answer.member("access_token"), "access_token")
    expires_in = answer.member("expires_in")
    expect.that(_is_whole(expires_in), "expires_in", expected="an integer", got=expires_in)
    token_type = answer.member("token_type")
    expect.that(isinstance(token_type, str), "token_type", expected="a string", got=token_type)


@check("PROXY-08", cases=("form", "basic"))
def agent_gets_no_proxy_token(gateway: Gateway, world: World, case: str) -> None:
    """An agent that requests client_credentials gets nothing that works as a Proxy token."""
    _cannot_redeem(gateway, world, world.grant(), case)


@check("PROXY-08", cases=("form", "basic"))
def agent_that_registers_for_it_gets_no_proxy_token(gateway: Gateway, world: World, case: str) -> None:
    """An agent that registers the grant type client_credentials gets no working Proxy token."""
    _working_client(gateway, world)
    grant = world.grant()
    metadata = world.agents.metadata()
    wanted = {**metadata, "grant_types": [*metadata["grant_types"], "client_credentials"]}
    registered = gateway.register(wanted)
    if registered.status not in range(200, 300):
        expect(registered).refused()
        return
    agent = world.agents.of(registered)
    # Such an agent may get no code, so its token is tried with another agent's access token.
    gateway.visit(world.attempt(agent, resource=grant.resource), wherever=True)
    _cannot_redeem(gateway, world, replace(grant, agent=agent), case)


@check("PROXY-08", cases=("access_token", "id_token", "refresh_token", "client_secret"))
def agents_own_token_is_no_proxy_token(world: World, case: str) -> None:
    """None of an agent's own tokens is accepted as X-Proxy-Token."""
    grant = world.grant()
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    held = grant.agent.client_secret if case == "client_secret" else getattr(grant, case)

    expect(_redeemed(world, grant, held)).not_granted("the merchant token", "access_token")


@check("PROXY-09")
def credentials_in_the_form(gateway: Gateway, world: World) -> None:
    """Records the answer to a Proxy client that sends its credentials in the form body."""
    client = _working_client(gateway, world)
    answer = gateway.token_request(
        [GRANT, ("client_id", client.id), ("client_secret", client.secret.reveal())]
    )

    observe(
        form_status=answer.status or 0,
        form_gives_a_token=answer.member("access_token") is not None,
        form_error=_error_of(answer),
    )


@check("PROXY-10")
def token_type_is_bearer(gateway: Gateway, world: World) -> None:
    """The token_type of a Proxy token answer is Bearer, case-insensitive."""
    answer = require(gateway.proxy_token(world.projects.home().proxy_client)).status(200)
    token_type = answer.member("token_type")

    expect.that(str(token_type).lower() == "bearer", "token_type", expected="Bearer", got=token_type)


@check("PROXY-10")
def answer_is_not_to_be_stored(gateway: Gateway, world: World) -> None:
    """A Proxy token answer has Cache-Control: no-store."""
    answer = require(gateway.proxy_token(world.projects.home().proxy_client)).status(200)
    said = ", ".join(answer.answer.headers_named("Cache-Control") if answer.answer is not None else ())
    directives = {word.strip().lower() for word in said.split(",")}

    expect.that("no-store" in directives, "Cache-Control", expected="no-store", got=said or "no header")


@check("PROXY-10")
def no_refresh_token_comes_along(gateway: Gateway, world: World) -> None:
    """A Proxy token answer contains no refresh token."""
    answer = require(gateway.proxy_token(world.projects.home().proxy_client)).status(200)
    require.text(answer.member("access_token"), "access_token")

    expect.that(
        not answer.member("refresh_token"),
        "refresh_token for client_credentials",
        expected="none",
        got="one",
    )


@check("PROXY-10")
def refusal_names_invalid_client(gateway: Gateway, world: World) -> None:
    """The 401 for a wrong secret has the error invalid_client in JSON, and WWW-Authenticate."""
    client = _working_client(gateway, world)
    wrong = gateway.keyring.secret("proxy_client_secret", secrets.token_urlsafe(32))

    _names_invalid_client(gateway.proxy_token(replace(client, secret=wrong)), "with a wrong secret")


@check("PROXY-10")
def refusal_of_an_unknown_client_names_invalid_client(gateway: Gateway, world: World) -> None:
    """The 401 for an unknown Proxy client has the error invalid_client in JSON, and WWW-Authenticate."""
    client = _working_client(gateway, world)
    unknown = replace(client, id=f"{client.id[:3]}{secrets.token_hex(12)}")

    _names_invalid_client(gateway.proxy_token(unknown), "of an unknown client")


def _names_invalid_client(answer: Exchange, whose: str) -> None:
    require.step_of(f"Proxy token request {whose}")(answer).status(401)

    expect.equal(answer.member("error"), "invalid_client", "error in the body")
    expect.text(answer.header("WWW-Authenticate"), "WWW-Authenticate")


def _working_client(gateway: Gateway, world: World) -> ProxyClient:
    """The home Project's Proxy client, which gets a token in this check."""
    client = world.projects.home().proxy_client
    require(gateway.proxy_token(client)).status(200)
    return client


def _redeemed(world: World, grant: Grant, proxy_token: Secret) -> Exchange:
    return world.gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)


def _cannot_redeem(gateway: Gateway, world: World, grant: Grant, where: str) -> None:
    """Requests client_credentials as the agent of the grant; the result must not redeem."""
    world.backend.require_redeemed(grant, world.backend.proxy_token())
    agent = grant.agent
    if where == "basic":
        answer = gateway.token_request(
            [GRANT], backend_wire.basic(agent.client_id, agent.client_secret.reveal())
        )
    else:
        fields = [("client_id", agent.client_id), ("client_secret", agent.client_secret.reveal())]
        answer = gateway.token_request([GRANT, *fields])
    token = answer.member("access_token")
    if not isinstance(token, str) or not token:
        expect(answer).refused()
        return
    expect(_redeemed(world, grant, Secret("access_token", token))).not_granted(
        "the merchant token", "access_token"
    )


def _is_whole(value: object) -> bool:
    """True for a JSON integer: 3599.0 is one, true is not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or value.is_integer()


def _error_of(answer: Exchange) -> str:
    error = answer.member("error")
    return error if isinstance(error, str) else ""
