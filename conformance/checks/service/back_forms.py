"""The exact form of the service's requests to the gateway and the merchant.

The requests are judged even if the operation fails, which other rules judge.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from gateproof.conformance.checks.service._failing_parties import (
    failing,
    failing_token_endpoint,
    require_recovered,
    require_works,
)
from gateproof.conformance.checks.service._proxy_calls import require_served_uncached
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.wire import leaks
from gateproof.conformance.wire.documents import same_url
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Answer, Endpoint

USER = USERS[0]
# Audiences of the agent's token; the empty one stands for the Resource indicator.
AUDIENCES = {
    "one-audience": ("",),
    "another-audience-first": ("https://other.example", ""),
    "another-audience-last": ("", "https://other.example"),
}
# Redemptions that return no merchant token, some with a success status.
NO_MERCHANT_TOKEN = {
    "400": Answer(status=400),
    "401": Answer(status=401),
    "404": Answer(status=404),
    "410": Answer(status=410),
    "500": Answer(status=500),
    "reset": Answer(reset=True),
    "an-empty-object": Answer(body=b"{}"),
    "null": Answer(body=b'{"access_token": null}'),
    "not-json": Answer(body=b"<!doctype html><title>Maintenance</title>"),
}
# Answers after which a client may retry, perhaps in another form.
REFUSED_OR_FAILED = {
    **{str(status): Answer(status=status) for status in (400, 401, 403, 404, 410, 415, 500)},
    "reset": Answer(reset=True),
}
# Headers that some services forward unchanged.
FORWARDED = ("X-Forwarded-Access-Token", "X-Auth-Request-Access-Token")


@check("BACK-01")
def proxy_token_is_asked_for_by_basic(service: Service, world: ServiceWorld) -> None:
    """The Proxy token request has Basic credentials and a form with the grant; the secret is nowhere else."""
    service.serve(world.unseen_token(USER))
    _have_basic(world, 0)


@check("BACK-01", cases=("400", "401", "500"))
def proxy_token_is_asked_for_by_basic_after_a_refusal(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """If a Proxy token request is refused or fails, a second one is written like any other.

    Some libraries try the client in the form when the header was refused.
    """
    require_works(service, world)
    mark = world.gateway.journal.mark()
    failing_token_endpoint(service, world, Answer(status=int(case)), times=1)

    _have_basic(world, mark)
    require_recovered(service, world)
    _have_basic(world, mark)


def _have_basic(world: ServiceWorld, mark: int) -> None:
    """Expects the exact form of all Proxy token requests since `mark`; requires at least one."""
    setup = world.gateway.setup
    calls = _asked(world, mark, Endpoint.TOKEN, world.gateway.addresses.token_endpoint)
    require.that(bool(calls), "journal of the gateway", expected="a Proxy token request", got="none")
    for call in calls:
        form = call.form()
        kind = (call.header("content-type") or "").partition(";")[0].strip().lower()
        expect.equal(call.method, "POST", "method of the Proxy token request")
        expect.equal(kind, "application/x-www-form-urlencoded", "Content-Type of the Proxy token request")
        expect.equal(form.get("grant_type"), "client_credentials", "grant_type of the Proxy token request")
        expect.that(
            (setup.proxy_client_id, setup.proxy_client_secret) in _basic(call),
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


@check("BACK-04", cases=AUDIENCES)
def redemption_has_its_exact_form(service: Service, world: ServiceWorld, case: tuple[str, ...]) -> None:
    """Redemption is a JSON POST with the agent's token as Bearer, the bare Proxy token and the indicator."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    audience = [each or gateway.setup.indicator for each in case]
    token = world.unseen_token(USER, aud=audience)
    service.serve(token)
    _have_their_exact_form(world, mark, token)


@check("BACK-04", cases=REFUSED_OR_FAILED)
def redemption_after_a_refusal_has_the_same_form(service: Service, world: ServiceWorld, case: Answer) -> None:
    """If the first redemption of a call is refused or fails, a second one is written like any other."""
    gateway = world.gateway
    service.serve(world.unseen_token(USER))
    mark, token = gateway.journal.mark(), world.unseen_token(USER)
    gateway.script.tape(Endpoint.REDEMPTION, [case])
    service.serve_once(token)
    gateway.script.clear()

    _have_their_exact_form(world, mark, token)


@check("BACK-04")
def callers_proxy_token_is_not_redeemed_with(service: Service, world: ServiceWorld) -> None:
    """If the agent itself sends an X-Proxy-Token, the redemption contains the service's own one and no other.

    A service may refuse such a request.
    """
    mark, token = world.gateway.journal.mark(), world.unseen_token(USER)
    service.serve(token, (("X-Proxy-Token", secrets.token_urlsafe(24)),))
    if not world.gateway.journal.since(mark, Endpoint.REDEMPTION):
        require_served_uncached(service, world)
        raise LeftOut("the service redeems nothing for a request with X-Proxy-Token")

    _have_their_exact_form(world, mark, token)


@check("BACK-05")
def merchant_api_gets_the_merchant_token_alone(service: Service, world: ServiceWorld) -> None:
    """The merchant API gets the merchant token as Bearer, and no other credential."""
    gateway, mark = world.gateway, world.gateway.journal.mark()
    token, astray = world.unseen_token(USER), gateway.misplaced_token(USER)
    service.serve(token, tuple((name, astray) for name in FORWARDED))
    found = _others(_at_the_merchant(world, mark), world, token, astray)
    expect.that(not found, "calls of the merchant API", expected="no other credential", got=", ".join(found))
    calls = gateway.journal.since(mark, Endpoint.MERCHANT_API)
    if not calls:
        require_served_uncached(service, world)
        raise LeftOut("the service calls no merchant for a request with these headers")
    _have_the_merchant_token_as_bearer(calls, world)


@check("BACK-05", cases=NO_MERCHANT_TOKEN)
def merchant_api_gets_no_stand_in(service: Service, world: ServiceWorld, case: Answer) -> None:
    """If redemption returns no merchant token, no other credential is sent to the merchant."""
    gateway = world.gateway
    first = service.serve(world.unseen_token(USER))
    require.that(
        first.answer is not None, "operation", expected="an answer", got=first.outcome(), exchange=first
    )
    mark, token = gateway.journal.mark(), world.unseen_token(USER)
    gateway.script.always(Endpoint.REDEMPTION, case)
    service.serve_once(token)
    gateway.script.clear()
    asked = gateway.journal.since(mark, Endpoint.REDEMPTION)
    require.that(bool(asked), "journal of the gateway", expected="a redemption", got="none")

    found = _others(_at_the_merchant(world, mark), world, token)
    expect.that(not found, "calls of the merchant API", expected="no other credential", got=", ".join(found))


@check("BACK-05")
def merchant_api_gets_no_stand_in_for_want_of_a_proxy_token(service: Service, world: ServiceWorld) -> None:
    """Without a Proxy token to redeem with, no credential is sent to the merchant."""
    token, mark = world.unseen_token(USER), world.gateway.journal.mark()
    failing_token_endpoint(service, world, Answer(status=500), token)

    found = _others(_at_the_merchant(world, mark), world, token)
    expect.that(not found, "calls of the merchant API", expected="no other credential", got=", ".join(found))


@check("BACK-05", cases=("401", "403", "500"))
def merchant_api_in_trouble_gets_nothing_else(service: Service, world: ServiceWorld, case: str) -> None:
    """A merchant that rejects its token, or fails, gets it as Bearer only, and no other credential."""
    token, mark = world.unseen_token(USER), world.gateway.journal.mark()
    failing(service, world, Endpoint.MERCHANT_API, Answer(status=int(case)), token)

    calls = _at_the_merchant(world, mark)
    found = _others(calls, world, token)
    expect.that(not found, "calls of the merchant API", expected="no other credential", got=", ".join(found))
    issued = leaks.CanarySet(leaks.canary("a merchant token", each) for each in world.gateway.merchant_tokens)
    _have_the_merchant_token_as_bearer([call for call in calls if issued.search(call.text())], world)


def _have_the_merchant_token_as_bearer(calls: Iterable[Call], world: ServiceWorld) -> None:
    """Expects a merchant token as Bearer in each of these calls, and none in their addresses."""
    known = world.gateway.merchant_tokens
    for call in calls:
        scheme, _, bearer = (call.header("authorization") or "").partition(" ")
        expect.that(
            scheme.lower() == "bearer" and bearer in known,
            "Authorization at the merchant API",
            expected="Bearer and the merchant token",
            got="something else" if bearer else "no such header",
        )
        expect.that(
            not any(token in unquote(call.target) for token in known),
            "address of the call of the merchant API",
            expected="no merchant token",
            got="a merchant token",
        )


def _have_their_exact_form(world: ServiceWorld, mark: int, token: str) -> None:
    """Expects the exact form of all redemptions of this agent's token since `mark`; requires at least one."""
    gateway = world.gateway
    calls = _asked(world, mark, Endpoint.REDEMPTION, gateway.addresses.redemption_endpoint)
    require.that(bool(calls), "journal of the gateway", expected="a redemption", got="none")
    known = {each.value for each in gateway.proxy_tokens}
    for call in calls:
        kind = (call.header("content-type") or "").partition(";")[0].strip().lower()
        body = call.json()
        expect.equal(call.method, "POST", "method of the redemption")
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
        expect.that(
            token not in unquote(call.target) and not any(each in unquote(call.target) for each in known),
            "address of the redemption",
            expected="no token",
            got="the token that the agent sent, or a Proxy token",
        )
        resource = body.get("resource") if isinstance(body, dict) else None
        expect.equal(resource, gateway.setup.indicator, "resource of the redemption")


def _asked(world: ServiceWorld, mark: int, endpoint: Endpoint, url: str) -> list[Call]:
    """The calls of an endpoint, also with a wrong method if they contain a credential or a grant."""
    path = urlsplit(url).path
    return [
        call
        for call in world.gateway.journal.since(mark, endpoint, Endpoint.ELSEWHERE)
        if call.endpoint is endpoint
        or (
            call.target.partition("?")[0] == path
            and (call.header("authorization") or call.header("x-proxy-token") or "grant_type" in call.text())
        )
    ]


def _at_the_merchant(world: ServiceWorld, mark: int) -> list[Call]:
    """The calls of the merchant API since `mark`, also with an unknown method or path."""
    url = world.gateway.addresses.merchant_api_url
    path = urlsplit(url).path
    return [
        call
        for call in world.gateway.journal.since(mark, Endpoint.MERCHANT_API, Endpoint.ELSEWHERE)
        if call.endpoint is Endpoint.MERCHANT_API
        or (same_url(f"{urlsplit(url).scheme}://{call.header('host')}{path}", url) and _is_below(path, call))
    ]


def _is_below(path: str, call: Call) -> bool:
    asked = call.target.partition("?")[0]
    return asked == path or asked.startswith(f"{path}/")


def _others(calls: Iterable[Call], world: ServiceWorld, token: str, astray: str = "") -> list[str]:
    """The credentials in merchant API calls that are no merchant token, in any encoding.

    For an agent's token the signature is searched: its claims are no credential and may be passed on.
    """
    gateway = world.gateway
    others = {
        "the gateway access token": [token],
        "a gateway access token of another header": [astray] if astray else [],
        "the Proxy client's secret": [gateway.setup.proxy_client_secret],
        "a Proxy token": [each.value for each in gateway.proxy_tokens],
    }
    canary_set = leaks.CanarySet(
        leaks.canary(name, value) for name, values in others.items() for value in values
    )
    return sorted({found.kind for call in calls for found in canary_set.search(call.text())})


def _basic(call: Call) -> tuple[tuple[str, str], ...]:
    """The pair in a Basic header, as it is and form-decoded; either may be the right one."""
    scheme, _, encoded = (call.header("authorization") or "").partition(" ")
    if scheme.lower() != "basic":
        return ()
    try:
        name, _, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return ()
    return (name, secret), (unquote(name), unquote(secret))
