"""What the service sends to the gateway and to the merchant.

The checks about the first calls stand first: later there is a Proxy token already.
"""

from __future__ import annotations

import base64
import time
from urllib.parse import unquote

from conformance.check import check
from conformance.claims import LeftOut, expect, observe, require
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, holds_orders, served
from fakes.gateway.journal import Call
from fakes.gateway.script import Answer, Endpoint

BURST = 12
IN_A_ROW = 20
# One for each worker process of the service (rule BACK-02).
MOST_REQUESTS = 4
# The lifetime that is announced of a Proxy token that then dies early: a service that goes by it alone needs
# so long to find out.
SHORT_LIFE_S = 90


@check("BACK-02")
def burst_of_first_calls_shares_a_proxy_token(service: Service, world: ServiceWorld) -> None:
    """Calls that come all at once before there is a Proxy token do not fetch one each."""
    gateway = world.gateway
    if gateway.journal.since(0, Endpoint.TOKEN):
        raise LeftOut("the service got its Proxy token before it was first called")
    # Whoever is quick has the token before the others ask.
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=0.3))
    answers = service.serve_all([gateway.access_token(USERS[0]) for _ in range(BURST)], at_once=BURST)
    good = sum(holds_orders(answer, gateway.orders_of(USERS[0])) for answer in answers)
    require.that(good > 0, f"{BURST} first calls at once", expected="one that is served", got="none")
    asked = len(gateway.journal.since(0, Endpoint.TOKEN))

    observe(requests_in_a_burst=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {BURST} first calls at once",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )


@check("BACK-02")
def proxy_token_is_reused(service: Service, world: ServiceWorld) -> None:
    """Twenty calls in a row share a Proxy token that lasts an hour."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    for _ in range(IN_A_ROW):
        _serve(service, world)
    asked = len(gateway.journal.since(mark, Endpoint.TOKEN))

    observe(requests_in_a_row=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {IN_A_ROW} calls in a row",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )


@check("BACK-01")
def proxy_token_is_asked_for_by_basic(service: Service, world: ServiceWorld) -> None:
    """The Proxy client stands in a Basic header, the grant in a form, and the secret nowhere else."""
    _serve(service, world)
    setup = world.gateway.setup
    calls = world.gateway.journal.since(0, Endpoint.TOKEN)
    require.that(bool(calls), "journal of the gateway", expected="a Proxy token request", got="none")
    for call in calls:
        form = call.form()
        kind = (call.header("content-type") or "").partition(";")[0].strip().lower()
        expect.equal(call.method, "POST", "method of the Proxy token request")
        expect.equal(kind, "application/x-www-form-urlencoded", "Content-Type of the Proxy token request")
        expect.equal(form.get("grant_type"), "client_credentials", "grant_type of the Proxy token request")
        expect.that(
            _basic(call) == (setup.proxy_client_id, setup.proxy_client_secret),
            "Authorization of the Proxy token request",
            expected="HTTP Basic with the Proxy client's ID and secret",
            got="something else" if call.header("authorization") else "no such header",
        )
        elsewhere = f"{call.target}\n{call.body.decode('utf-8', 'replace')}"
        expect.that(
            setup.proxy_client_secret not in unquote(elsewhere),
            "Proxy token request",
            expected="the secret in the header alone",
            got="the secret in its address or body",
        )


@check("BACK-03")
def dead_proxy_token_is_replaced(service: Service, world: ServiceWorld) -> None:
    """When the gateway takes the Proxy token no more, the service gets another and goes on.

    A call or two may fail over it. A service that goes by the lifetime alone is given that long.
    """
    gateway = world.gateway
    gateway.revoke_proxy_tokens()
    gateway.proxy_token_life_s = SHORT_LIFE_S
    try:
        lost = _until_it_works(service, world, SHORT_LIFE_S + 5)
        require.that(
            lost is not None, "calls after the Proxy tokens died", expected="one that works", got="none"
        )
        gateway.revoke_proxy_tokens()
        lost = _until_it_works(service, world, SHORT_LIFE_S + 5)
    finally:
        gateway.proxy_token_life_s = 3599

    observe(calls_lost=-1 if lost is None else lost)
    expect.that(
        lost is not None,
        f"calls in the {SHORT_LIFE_S} s that a Proxy token was to live, after it had died",
        expected="a new Proxy token, and calls that work",
        got="none that works",
    )


@check("BACK-04")
def redemption_has_its_exact_form(service: Service, world: ServiceWorld) -> None:
    """JSON by POST, the agent's token as Bearer, the Proxy token bare, the Resource indicator as it is."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    token = gateway.access_token(USERS[0])
    served(service.serve(token), gateway.orders_of(USERS[0]))
    calls = gateway.journal.since(mark, Endpoint.REDEMPTION)
    require.that(bool(calls), "journal of the gateway", expected="a redemption", got="none")
    known = {each.value for each in gateway.proxy_tokens}
    for call in calls:
        kind = (call.header("content-type") or "").partition(";")[0].strip().lower()
        body = call.json()
        expect.equal(kind, "application/json", "Content-Type of the redemption")
        scheme, _, bearer = (call.header("authorization") or "").partition(" ")
        expect.that(
            scheme.lower() == "bearer" and bearer == token,
            "Authorization of the redemption",
            expected="Bearer and the token that the agent sent",
            got="something else" if bearer else "no such header",
        )
        given = call.headers_named("x-proxy-token")
        expect.that(
            len(given) == 1 and given[0] in known,
            "X-Proxy-Token",
            expected="a Proxy token, bare",
            got="something else" if given else "no such header",
        )
        resource = body.get("resource") if isinstance(body, dict) else None
        expect.equal(resource, gateway.setup.indicator, "resource of the redemption")


@check("BACK-05")
def merchant_api_gets_the_merchant_token_alone(service: Service, world: ServiceWorld) -> None:
    """The merchant is shown the merchant token as Bearer, and no other credential."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    token = gateway.access_token(USERS[0])
    served(service.serve(token), gateway.orders_of(USERS[0]))
    calls = gateway.journal.since(mark, Endpoint.MERCHANT_API)
    require.that(bool(calls), "journal of the merchant API", expected="a call", got="none")
    setup = gateway.setup
    others = {
        "the gateway access token": token,
        "the Proxy client's secret": setup.proxy_client_secret,
        **{f"Proxy token {number}": each.value for number, each in enumerate(gateway.proxy_tokens, 1)},
    }
    for call in calls:
        scheme, _, bearer = (call.header("authorization") or "").partition(" ")
        expect.that(
            scheme.lower() == "bearer" and bearer in gateway.merchant_tokens,
            "Authorization at the merchant API",
            expected="Bearer and the merchant token",
            got="something else" if bearer else "no such header",
        )
        found = [name for name, value in others.items() if value in call.text()]
        expect.that(
            not found, "call of the merchant API", expected="no other credential", got=", ".join(found)
        )


def _serve(service: Service, world: ServiceWorld) -> None:
    gateway = world.gateway
    served(service.serve(gateway.access_token(USERS[0])), gateway.orders_of(USERS[0]))


def _until_it_works(service: Service, world: ServiceWorld, within_s: float) -> int | None:
    """How many calls fail before one works; None when none does in time."""
    gateway, until, lost = world.gateway, time.monotonic() + within_s, 0
    while True:
        answer = service.serve(gateway.access_token(USERS[0]))
        if holds_orders(answer, gateway.orders_of(USERS[0])):
            return lost
        if time.monotonic() > until:
            return None
        lost += 1
        time.sleep(min(5.0, 0.1 * 2**lost))


def _basic(call: Call) -> tuple[str, str] | None:
    scheme, _, encoded = (call.header("authorization") or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, secret = base64.b64decode(encoded.strip()).decode().partition(":")
    except ValueError:
        return None
    return unquote(name), unquote(secret)
