"""The Proxy token: who gets one, and how long it serves."""

from __future__ import annotations

import secrets
from dataclasses import replace

from conformance import console
from conformance.check import check
from conformance.claims import LeftOut, Unavailable, expect, observe, require
from conformance.clock import LEEWAY_S
from conformance.gateway import Gateway
from conformance.parties import Grant, ProxyClient
from conformance.wire import backend as backend_wire
from conformance.wire.exchange import Exchange
from conformance.wire.secret import Secret
from conformance.world import World

HOUR_S, FIFTY_MINUTES_S, SPARE_S = 3600, 3000, 120
# The hour, less the moment that the answer took.
AN_HOUR_AT_LEAST_S = 3595
# The grant of RFC 6749 section 4.4.
GRANT = ("grant_type", "client_credentials")


@check("PROXY-01")
def basic_and_client_credentials_give_a_token(gateway: Gateway, world: World) -> None:
    """A Proxy client gets an access token and says how long it lives."""
    answer = gateway.proxy_token(world.home().proxy_client)

    expect(answer).status(200)
    expect(answer).json_object()
    expect.text(answer.member("access_token"), "access_token")
    expires_in = answer.member("expires_in")
    expect.that(_is_whole(expires_in), "expires_in", expected="an integer", got=expires_in)


@check("PROXY-02")
def token_lives_an_hour(gateway: Gateway, world: World) -> None:
    """`expires_in` is an hour, less the moment that it took to answer."""
    client, is_new = _client_without_a_token(world)
    answer = gateway.proxy_token(client)
    require(answer).status(200)
    expires_in = require(answer).json_object().get("expires_in")
    require.that(
        isinstance(expires_in, int | float) and not isinstance(expires_in, bool),
        "expires_in",
        expected="a number",
        got=expires_in,
    )
    if not is_new and (expires_in or 0) < AN_HOUR_AT_LEAST_S and _same_again(gateway, client, answer):
        raise LeftOut("the gateway hands out a token that it has given before, with what is left of its hour")

    expect.that(
        AN_HOUR_AT_LEAST_S <= (expires_in or 0) <= HOUR_S,
        "expires_in",
        expected="3599 (3595 to 3600)",
        got=expires_in,
    )


@check("PROXY-06")
def one_token_redeems_again_and_again(world: World) -> None:
    """A Proxy token is not used up by a redemption."""
    grant, token = world.grant(), world.proxy_token()
    require(world.redeem(grant, token)).status(200)

    for _ in range(4):
        expect(world.redeem(grant, token)).status(200)


@check("PROXY-06", needs=["users:2"])
def one_token_redeems_for_every_user(world: World) -> None:
    """A Proxy token stands for the operator's backend, not for the user whom it was first used for."""
    token = world.proxy_token()
    first, second = (world.grant(user=user) for user in world.users[:2])
    for grant in (first, second):
        require(world.redeem(grant, world.proxy_token())).status(200)

    for grant in (first, second, first):
        expect(world.redeem(grant, token)).status(200)


@check("PROXY-06")
def newer_token_leaves_the_older_one_good(world: World) -> None:
    """A Proxy token serves its hour, whether or not another process of the backend asks for one too."""
    grant, older = world.grant(), world.proxy_token()
    newer = world.proxy_token()
    require(world.redeem(grant, newer)).status(200)

    expect(world.redeem(grant, older)).status(200)


@check("PROXY-06", needs=["control:advance_clock"])
def token_still_serves_after_fifty_minutes(gateway: Gateway, world: World) -> None:
    """Fifty minutes after it was issued, a Proxy token redeems for a user who has just signed in."""
    project = world.project_apart()
    asked = require(gateway.proxy_token(project.proxy_client)).status(200)
    token = gateway.keyring.secret("proxy_token", require.text(asked.member("access_token"), "access_token"))
    lives = asked.member("expires_in")
    if isinstance(lives, int | float) and lives < FIFTY_MINUTES_S + SPARE_S:
        raise LeftOut("the gateway hands out a token that it has given before, and that ends sooner")
    world.advance_clock(FIFTY_MINUTES_S)
    grant = world.grant(resource=project.resource)
    require(world.redeem(grant, world.proxy_token(project))).status(200)

    expect(world.redeem(grant, token)).status(200)


@check("PROXY-07")
def token_is_refused_after_its_hour(world: World) -> None:
    """An expired Proxy token redeems nothing, for a user whose own token is fresh."""
    token = world.proxy_token()
    require(world.redeem(world.grant(), token)).status(200)
    world.advance_clock(HOUR_S + LEEWAY_S)
    grant = world.grant()
    require(world.redeem(grant, world.proxy_token())).status(200)

    expect(world.redeem(grant, token)).not_granted("the merchant token", "access_token")


@check("PROXY-08", cases=("form", "basic"))
def agent_gets_no_proxy_token(gateway: Gateway, world: World, case: str) -> None:
    """What an agent client gets for client_credentials, if it gets anything, is no Proxy token."""
    _shut_out(gateway, world, world.grant(), case)


@check("PROXY-08")
def agent_that_registers_for_it_gets_no_proxy_token(gateway: Gateway, world: World) -> None:
    """An agent that says client_credentials among its grant types is an agent all the same."""
    _working_client(gateway, world)
    grant = world.grant()
    metadata = world.metadata()
    wanted = {**metadata, "grant_types": [*metadata["grant_types"], "client_credentials"]}
    registered = gateway.register(wanted)
    if registered.status not in range(200, 300):
        expect(registered).refused()
        return
    agent = world.agent_of(registered)
    _shut_out(gateway, world, world.grant(agent=agent, resource=grant.resource), "form")


@check("PROXY-08", cases=("access_token", "id_token", "refresh_token", "client_secret"))
def agents_own_token_is_no_proxy_token(world: World, case: str) -> None:
    """Nothing that an agent holds does as X-Proxy-Token: the second token locks agents out."""
    grant = world.grant()
    require(world.redeem(grant, world.proxy_token())).status(200)
    held = grant.agent.client_secret if case == "client_secret" else getattr(grant, case)

    expect(_redeemed(world, grant, held)).not_granted("the merchant token", "access_token")


@check("PROXY-09")
def credentials_in_the_form(gateway: Gateway, world: World) -> None:
    """What a Proxy client gets that authenticates in the form is open."""
    client = _working_client(gateway, world)
    answer = gateway.token_request(
        [GRANT, ("client_id", client.id), ("client_secret", client.secret.reveal())]
    )

    observe(
        form_status=answer.status or 0,
        form_gives_a_token=answer.member("access_token") is not None,
        form_error=_said(answer),
    )


@check("PROXY-10")
def token_type_is_bearer(gateway: Gateway, world: World) -> None:
    """`token_type` is Bearer, in any case."""
    answer = require(gateway.proxy_token(world.home().proxy_client)).status(200)
    token_type = answer.member("token_type")

    expect.that(str(token_type).lower() == "bearer", "token_type", expected="Bearer", got=token_type)


@check("PROXY-10")
def answer_is_not_to_be_stored(gateway: Gateway, world: World) -> None:
    """The answer that holds a Proxy token says no-store."""
    answer = require(gateway.proxy_token(world.home().proxy_client)).status(200)
    said = ", ".join(answer.answer.headers_named("Cache-Control") if answer.answer is not None else ())
    directives = {word.strip().lower() for word in said.split(",")}

    expect.that("no-store" in directives, "Cache-Control", expected="no-store", got=said or "no header")


@check("PROXY-10")
def no_refresh_token_comes_along(gateway: Gateway, world: World) -> None:
    """A client that can always ask again gets no refresh token."""
    answer = require(gateway.proxy_token(world.home().proxy_client)).status(200)
    require.text(answer.member("access_token"), "access_token")

    expect.that(
        answer.member("refresh_token") is None,
        "refresh_token for client_credentials",
        expected="none",
        got="one",
    )


@check("PROXY-10")
def refusal_names_invalid_client(gateway: Gateway, world: World) -> None:
    """The 401 for a wrong secret says invalid_client in JSON and challenges by WWW-Authenticate."""
    client = _working_client(gateway, world)
    wrong = gateway.keyring.secret("proxy_client_secret", secrets.token_urlsafe(32))
    answer = require(gateway.proxy_token(replace(client, secret=wrong))).status(401)

    expect.equal(answer.member("error"), "invalid_client", "error in the body")
    expect.text(answer.header("WWW-Authenticate"), "WWW-Authenticate")


def _client_without_a_token(world: World) -> tuple[ProxyClient, bool]:
    """A Proxy client that has asked for no token yet; where none can be made home's, and that says so."""
    project = world.project_apart()
    if world.estate.is_own(project.id):
        return project.proxy_client, True
    try:
        return console.new_proxy_client(world, project), True
    except Unavailable:
        return project.proxy_client, False


def _same_again(gateway: Gateway, client: ProxyClient, before: Exchange) -> bool:
    again = require(gateway.proxy_token(client)).status(200)
    return bool(again.member("access_token") == before.member("access_token"))


def _working_client(gateway: Gateway, world: World) -> ProxyClient:
    """Home's Proxy client, which gets its token in this very check."""
    client = world.home().proxy_client
    require(gateway.proxy_token(client)).status(200)
    return client


def _redeemed(world: World, grant: Grant, proxy_token: Secret) -> Exchange:
    return world.gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)


def _shut_out(gateway: Gateway, world: World, grant: Grant, where: str) -> None:
    """The agent of the grant asks by client_credentials, and what it gets does not redeem."""
    require(world.redeem(grant, world.proxy_token())).status(200)
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
    """An integer as JSON knows it: 3599.0 is one, true is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return float(value).is_integer()


def _said(answer: Exchange) -> str:
    error = answer.member("error")
    return error if isinstance(error, str) else ""
