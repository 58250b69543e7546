"""A good token outside of the Authorization header counts as no token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, urlencode

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.checks.service._failing_parties import shows_orders
from gateproof.conformance.kit.inputs.odd_requests import with_header
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service, expect_challenge, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange, Headers

# Headers in which some clients send a token, with their usual spelling.
_WITH_A_SCHEME = ("X-Access-Token", "X-Authorization", "Proxy-Authorization", "X-Forwarded-Authorization")
_BARE = (
    *("X-Access-Token", "X-Api-Key", "X-Auth-Token", "Access-Token", "Token", "X-Token", "X-Id-Token"),
    # Headers in which an authenticating proxy forwards the user's token to a service.
    *("X-Forwarded-Access-Token", "X-Auth-Request-Access-Token"),
    *("X-Gateway-Token", "X-Gateway-Access-Token", "X-User-Token", "X-Authorization"),
)
_OTHER_NAMES = ("token", "bearer_token", "jwt")
_MEMBERS = {**dict.fromkeys((*_OTHER_NAMES, "accessToken"), "{}"), "authorization": "Bearer {}"}
_QUERIES = (
    *((name, "{}") for name in (*_OTHER_NAMES, "accessToken", "authorization")),
    ("authorization", "Bearer {}"),
)
_COOKIES = (
    *("token={}", "jwt={}", "session={}", "access_token_cookie={}", 'access_token="Bearer {}"'),
    *("auth_token={}", "gateway_token={}"),
)


@check("CHAL-03", cases=("query", "cookie", "another-header", "body"))
def token_in_another_place_counts_as_none(service: Service, world: ServiceWorld, case: str) -> None:
    """A good token outside of the Authorization header gets the challenge."""
    good_token(service, world)
    good = world.gateway.misplaced_token(USER)
    match case:
        case "query":
            expect_challenge(_in_the_query(service, "access_token", good))
        case "cookie":
            expect_challenge(
                service.operate(headers=(("Cookie", f"access_token={good}; Authorization={good}"),))
            )
        case "another-header":
            expect_challenge(service.operate(headers=_headers(_WITH_A_SCHEME, f"Bearer {good}")))
        case _:
            # A service may check the body before the token; then any refusal is accepted.
            expect(_with_a_body(service, {"access_token": good})).refused()


@check("CHAL-03", cases=("query", "another-header", "cookie", "body", "form"))
def token_by_another_name_opens_nothing(service: Service, world: ServiceWorld, case: str) -> None:
    """A good token in other headers, cookies, members or parameters is refused."""
    good_token(service, world)
    good = world.gateway.misplaced_token(USER)
    # One at a time: servers limit the length of a URL and of all headers together.
    match case:
        case "another-header":
            for name in _BARE:
                _opens_nothing(service.operate(headers=_headers((name,), good)), f"a header {name}")
        case "cookie":
            for written in _COOKIES:
                where = f"a cookie {written.partition('=')[0]}"
                _opens_nothing(service.operate(headers=(("Cookie", written.format(good)),)), where)
        case "body":
            for name, written in _MEMBERS.items():
                _opens_nothing(_with_a_body(service, {name: written.format(good)}), f"a member {name}")
        case "form":
            for name, written in _MEMBERS.items():
                _opens_nothing(_as_a_form(service, {name: written.format(good)}), f"a field {name}")
        case _:
            for name, written in _QUERIES:
                _opens_nothing(_in_the_query(service, name, written.format(good)), f"a parameter {name}")


@check("CHAL-03", cases=("_meta", "arguments"))
def token_in_a_message_opens_nothing(service: Service, world: ServiceWorld, case: str) -> None:
    """A good token in the arguments of an MCP call is refused, also in an existing session.

    A server may check the arguments before the token, and answer with its own error.
    """
    gateway = world.gateway
    token = gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USER))
    if shows_orders(session.call(None), world, USER):
        raise LeftOut("in a session no token is needed at all, which CHAL-01 judges")
    good = gateway.misplaced_token(USER)
    more = {"access_token": good, "token": good, "authorization": f"Bearer {good}"}
    answer = session.call_with(case, more)
    if case == "_meta":
        expect_challenge(answer)
        return

    expect.that(
        not shows_orders(answer, world, USER),
        f"operation with a token among its {case} alone",
        expected="no orders",
        got=f"{answer.outcome()} with orders",
        exchange=answer,
    )


@check("CHAL-03")
def token_in_a_form_opens_nothing(service: Service, world: ServiceWorld) -> None:
    """A good token in a form body (RFC 6750 section 2.2) shows no orders.

    A service may refuse a form before it checks the token: any refusal is accepted.
    """
    good_token(service, world)

    expect(_as_a_form(service, {"access_token": world.gateway.misplaced_token(USER)})).refused()


def _opens_nothing(answer: Exchange, where: str) -> None:
    expect.that(
        answer.status is not None and 400 <= answer.status < 500,
        f"{answer.step} with a good token in {where}",
        expected="a refusal (a 4xx status)",
        got=answer.outcome(),
        exchange=answer,
    )


def _in_the_query(service: Service, name: str, token: str) -> Exchange:
    mark = "&" if "?" in service.operation.path else "?"
    return service.operate(query=f"{mark}{name}={quote(token)}")


def _headers(names: tuple[str, ...], value: str) -> Headers:
    return tuple((name, value) for name in names)


def _with_a_body(service: Service, more: Mapping[str, str]) -> Exchange:
    asked = service.operation
    own = {} if asked.json is None else asked.json
    if asked.kind == "mcp" or asked.method == "GET" or not isinstance(own, dict):
        raise LeftOut("the operation sends no JSON object that could contain a token")
    return service.with_body({**own, **more}).operate()


def _as_a_form(service: Service, more: Mapping[str, str]) -> Exchange:
    asked = service.operation
    if asked.kind == "mcp" or asked.method in ("GET", "HEAD"):
        raise LeftOut("the operation sends no body that could be a form")
    own = asked.json if isinstance(asked.json, dict) else {}
    fields = {name: value for name, value in own.items() if isinstance(value, str | int | float)}
    request = with_header(service.request(()), "Content-Type", "application/x-www-form-urlencoded")
    form = replace(request, body=urlencode({**fields, **more}).encode())
    return service.wire.send("operation as a form", form)
