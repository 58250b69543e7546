"""Secrets in answers: all that agents received is searched for the credentials of the backend."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import (
    failing,
    failing_token_endpoint,
    require_works,
)
from gateproof.conformance.checks.service._log import require_log, settled_log
from gateproof.conformance.checks.service._secrecy import EVERY, no_credentials_in
from gateproof.conformance.kit.gateway.received import LOGGED, RunTotals, brought_up
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.received import (
    LOGGED_TOKEN,
    MERCHANT_TOKEN,
    PROXY_ID,
    PROXY_SECRET,
    PROXY_TOKEN,
    ServiceReceived,
    in_the_log,
)
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.keys import signed
from gateproof.fakes.gateway.script import Answer, Endpoint

# Errors of the parties; each repeats the credentials that were sent to the party.
TROUBLE = {
    "redemption, 500": (Endpoint.REDEMPTION, 500),
    "redemption, 400": (Endpoint.REDEMPTION, 400),
    "redemption, 401": (Endpoint.REDEMPTION, 401),
    "redemption, 410": (Endpoint.REDEMPTION, 410),
    "redemption, 404": (Endpoint.REDEMPTION, 404),
    "Proxy token, 500": (Endpoint.TOKEN, 500),
    "Proxy token, 400": (Endpoint.TOKEN, 400),
    "Proxy token, 401": (Endpoint.TOKEN, 401),
    "Proxy token, 403": (Endpoint.TOKEN, 403),
    "merchant API, 500": (Endpoint.MERCHANT_API, 500),
    "merchant API, 400": (Endpoint.MERCHANT_API, 400),
    "merchant API, 401": (Endpoint.MERCHANT_API, 401),
    "merchant API, 403": (Endpoint.MERCHANT_API, 403),
    "merchant API, 404": (Endpoint.MERCHANT_API, 404),
}


@check("SECRET-02", cases=USERS)
def merchant_token_is_not_in_what_an_agent_gets(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """The answer of a successful operation contains the orders and no merchant token."""
    answer = require_served(service.serve(world.gateway.access_token(case)), world.gateway.orders_of(case))

    no_credentials_in(received, [answer], MERCHANT_TOKEN)


@check("SECRET-02")
def merchant_token_is_not_in_what_a_server_offers_besides(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """Notifications, lists, resources and errors of an MCP server contain no merchant token."""
    no_credentials_in(received, _offered_besides(service, world), MERCHANT_TOKEN)


@check("SECRET-03")
def proxy_token_is_not_in_what_a_server_offers_besides(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """Notifications, lists, resources and errors of an MCP server contain no Proxy token."""
    no_credentials_in(received, _offered_besides(service, world), PROXY_TOKEN)


@check("SECRET-04")
def proxy_client_is_not_in_what_a_server_offers_besides(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """Messages, lists, resources and errors of an MCP server contain no ID or secret of the Proxy client."""
    no_credentials_in(received, _offered_besides(service, world), PROXY_SECRET, PROXY_ID)


@check("SECRET-06", cases=TROUBLE)
def error_shows_no_credential(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: tuple[Endpoint, int]
) -> None:
    """If a party's error repeats the credentials sent to it, the service's answer contains none of them.

    They are in the body and in a header.
    """
    endpoint, status = case
    require_works(service, world)
    said = _quoting(world)
    trouble = Answer(status=status, members=said, headers={"x-detail": said["detail"]})
    if endpoint is Endpoint.TOKEN:
        answer, _ = failing_token_endpoint(service, world, trouble)
    else:
        answer, _ = failing(service, world, endpoint, trouble, world.unseen_token(USERS[0]))
    require.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )

    no_credentials_in(received, [answer], *EVERY)


@check("SECRET-06", cases=("redemption", "Proxy token"))
def unreadable_answer_shows_no_credential(
    service: Service, world: ServiceWorld, received: ServiceReceived, case: str
) -> None:
    """If a success with a new token is cut off, the service's answer does not contain the token."""
    gateway = world.gateway
    require_works(service, world)
    if case == "redemption":
        cut = _cut(gateway.merchant_token(USERS[0]))
        answer, _ = failing(service, world, Endpoint.REDEMPTION, cut, world.unseen_token(USERS[0]))
    else:
        answer, _ = failing_token_endpoint(service, world, _cut(gateway.proxy_token().value))
    require.that(
        answer.answer is not None, answer.step, expected="an answer", got=answer.outcome(), exchange=answer
    )

    no_credentials_in(received, [answer], *EVERY)


@check("SECRET-05")
def gateway_tokens_are_not_in_the_logs(service: Service, world: ServiceWorld) -> None:
    """The service's log contains no good or refused access token and no ID token."""
    gateway = world.gateway
    good = gateway.access_token(USERS[0])
    require_served(service.serve(good), gateway.orders_of(USERS[0]))
    expired = gateway.access_token(USERS[0], exp=1)
    foreign = gateway.access_token(USERS[0], aud=[service.service_url])
    person = {"name": "alice", "email": "alice@merchant.example"}
    id_token = signed(gateway.claims(USERS[0], aud=["agent_1"], ext=None, **person), gateway.core_key)
    failing(service, world, Endpoint.REDEMPTION, Answer(status=500), world.unseen_token(USERS[0]))
    for token in (expired, foreign, id_token):
        service.serve(token)

    _unlogged(world, id_token)


@check("SECRET-05", whole_run=True)
def tokens_of_the_run_are_not_in_the_logs(survey: RunTotals) -> None:
    """The service's log contains none of the access tokens of the whole run."""
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    found = sum(leak.kind == LOGGED_TOKEN for leak in survey.leaks)
    if not found and not survey.known.get(LOGGED):
        raise LeftOut("the log stayed empty, is not where the target file says, or was too long to be kept")

    expect.that(
        not found,
        f"the log of the run, searched for {survey.known[LOGGED_TOKEN]} access tokens",
        expected="none of them in plain text",
        got=f"{found} or more",
    )


@check("SECRET-02", whole_run=True)
def merchant_token_reached_no_agent(survey: RunTotals) -> None:
    """No answer of the whole run contained a merchant token."""
    _clean(survey, MERCHANT_TOKEN)


@check("SECRET-03", whole_run=True)
def proxy_token_reached_no_agent(survey: RunTotals) -> None:
    """No answer of the whole run contained a Proxy token."""
    _clean(survey, PROXY_TOKEN)


@check("SECRET-04", whole_run=True)
def proxy_client_reached_no_agent(survey: RunTotals) -> None:
    """No answer of the whole run contained the Proxy client's secret or ID."""
    _clean(survey, PROXY_SECRET, PROXY_ID)


def _offered_besides(service: Service, world: ServiceWorld) -> list[Exchange]:
    """Everything that an MCP server sends apart from the answer to a successful call."""
    gateway = world.gateway
    token = gateway.access_token(USERS[0])
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USERS[0]))
    return list(session.other_messages(token))


def _quoting(world: ServiceWorld) -> dict[str, str]:
    """An error that contains the backend's credentials of the last calls, one of each kind."""
    gateway = world.gateway
    sent = [token.value for token in gateway.proxy_tokens][-2:] + list(gateway.merchant_tokens)[-2:]
    return {"error": "trouble", "detail": f"sent: {' '.join([*sent, gateway.setup.proxy_client_secret])}"}


def _cut(token: str) -> Answer:
    """JSON with this token, cut off after it."""
    return Answer(body=f'{{"access_token": "{token}", "token_type": "Bearer", "expires_'.encode())


def _clean(survey: RunTotals, *kinds: str) -> None:
    require.that(survey.redeemed > 0, "the run", expected="a redemption that succeeded", got="none")
    known = sum(survey.known.get(kind, 0) for kind in kinds)
    found = [leak for leak in survey.leaks if leak.kind in kinds]
    brought_up(found)
    places = "; ".join(dict.fromkeys(f"{leak.check}: {leak.said()}" for leak in found[:4]))

    expect.that(
        not found,
        f"{survey.answers} answers of the run, searched for {known} secrets",
        expected=f"no {kinds[0].replace('_', ' ')} in them",
        got=places,
    )


def _unlogged(world: ServiceWorld, *id_tokens: str) -> None:
    """Expects that the log contains no access token so far and none of these ID tokens."""
    log = settled_log(world)
    found = in_the_log(world.gateway.access_tokens(), log)
    found += leaks.CanarySet([leaks.canary("id_token", each) for each in id_tokens]).search(log)
    # The personal data of an ID token is in its payload, not in its signature.
    payloads = [each for each in id_tokens if each.split(".")[1] in log]

    expect.that(
        not found and not payloads,
        f"the log, {len(log)} characters",
        expected="no gateway access token in plain text, and no ID token",
        got=", ".join(sorted({each.kind.replace("_", " ") for each in found}))
        or "the payload of an ID token, with personal data",
    )
    require_log(world, log)
