"""Every operation of an MCP server requires a token, not only the configured one."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from gateproof.conformance.checks.service._altered_tokens import USER, expired
from gateproof.conformance.kit.service.mcp_operations import (
    ABOUT_ARGUMENTS,
    METHODS,
    McpRequest,
    is_not_found,
    requests_for,
)
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, expect_challenge, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, NotApplicable, expect
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.keys import new_key, signed

CHALLENGE = "the challenge: 401 with WWW-Authenticate: Bearer and resource_metadata"
# A request outside of a session may get these statuses before the token is checked.
OUTSIDE = frozenset({400, 404})
_ELSEWHERE = "https://other.example"


def _forged(world: ServiceWorld) -> str:
    """The user's claims under an unknown key; redemption would accept the token."""
    gateway = world.gateway
    token = signed(gateway.claims(USER), new_key(gateway.algorithm), kid=gateway.core_key.kid)
    gateway.let_redeem(token, USER)
    return token


def _id_token(world: ServiceWorld) -> str:
    """An ID token that the core signed for an agent about this user."""
    gateway = world.gateway
    claims = gateway.claims(USER, aud=["agent_1"], ext=None, scope=None, scp=None, nonce="n")
    token = signed(claims, gateway.core_key)
    gateway.let_redeem(token, USER)
    return token


_Tokens = Mapping[str, Callable[[ServiceWorld], str | None]]
UNACCEPTABLE: _Tokens = {
    "without a token": lambda _: None,
    "with a token that is no JWT": lambda _: f"garbage-{secrets.token_hex(8)}",
    "with a forged token": _forged,
    "with an expired token": expired,
    "with a token for another audience": lambda world: world.gateway.access_token(USER, aud=[_ELSEWHERE]),
    "with an ID token": _id_token,
}
_NONE_OR_FORGED: _Tokens = {how: UNACCEPTABLE[how] for how in ("without a token", "with a forged token")}
# Versions of MCP, one that does not exist, and none. Some servers handle each version in another code path.
VERSIONS: Mapping[str, str | None] = {
    **{each: each for each in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")},
    "unknown": "2099-12-31",
    "none": None,
}


@check("CHAL-10", cases=METHODS)
def operation_in_a_session_gets_the_challenge(service: Service, world: ServiceWorld, case: str) -> None:
    """In a session started with a good token, every operation without a good token gets the challenge."""
    session, token = begun(service, world)

    _get_the_challenge(session, requests_for(case, session, token), world, is_outside=False)


@check("CHAL-10", cases=METHODS)
def operation_outside_of_a_session_gets_the_challenge(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """Outside of every session, no operation is carried out without a good token."""
    session, token = begun(service, world)

    asks = requests_for(case, session, token)
    _get_the_challenge(session.without_id(), asks, world, is_outside=True)


@check("CHAL-10", cases=VERSIONS)
def operation_of_any_version_gets_the_challenge(
    service: Service, world: ServiceWorld, case: str | None
) -> None:
    """Whatever version of MCP a request names, no operation is carried out without a good token.

    Newer versions have no sessions: each request contains everything. The server may refuse a version that it
    does not know, in a session and outside.
    """
    session, token = begun(service, world)
    asks = [*requests_for("tools/list", session, token), *requests_for("tools/call", session, token)]

    for each in (session.of_version(case), session.sessionless(case)):
        _get_the_challenge(each, asks, world, is_outside=True, tokens=_NONE_OR_FORGED)


def begun(service: Service, world: ServiceWorld) -> tuple[ServiceSession, str]:
    """A session of an MCP server in which the operation has shown the orders, and its token."""
    if service.operation.kind != "mcp":
        raise NotApplicable("the operation is no MCP tool")
    token = world.gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), world.gateway.orders_of(USER))
    return session, token


def _get_the_challenge(
    session: ServiceSession,
    asks: list[McpRequest],
    world: ServiceWorld,
    *,
    is_outside: bool,
    tokens: _Tokens = UNACCEPTABLE,
) -> None:
    """Expects the challenge for each of these requests without a token and with unacceptable tokens."""
    said_nothing: list[str] = []
    where = "outside of a session" if is_outside else "in a session that a good token began"
    for how, make in tokens.items():
        for ask in asks:
            # A new token each time: a service may refuse a bad token in another way when it comes again.
            answer = session.ask(ask.method, ask.params, make(world))
            if answer.status == 401:
                expect_challenge(answer)
            elif _is_about_arguments(ask, answer) and not _may_say_so(ask, answer, is_outside=is_outside):
                said_nothing.append(answer.step)
            else:
                expect.that(
                    _may_say_so(ask, answer, is_outside=is_outside),
                    f"{answer.step} {how}, {where}",
                    expected=CHALLENGE,
                    got=f"{answer.outcome()}{_with_what(answer)}",
                    exchange=answer,
                )
    if said_nothing:
        named = ", ".join(dict.fromkeys(said_nothing))
        raise LeftOut(f"{named}: the server looks at the arguments first, which says nothing of the token")


def _may_say_so(ask: McpRequest, answer: Exchange, *, is_outside: bool) -> bool:
    """True if a missing object, or a missing session, explains the answer."""
    return (not ask.is_there and is_not_found(answer)) or (is_outside and answer.status in OUTSIDE)


def _is_about_arguments(ask: McpRequest, answer: Exchange) -> bool:
    """True for a JSON-RPC error about the arguments, or a tool's error if its arguments were invented."""
    if mcp.error_code(answer) in ABOUT_ARGUMENTS:
        return True
    return ask.made_up and ask.method == "tools/call" and mcp.result_of(answer).get("isError") is True


def _with_what(answer: Exchange) -> str:
    if mcp.result_of(answer):
        return " with a result"
    code = mcp.error_code(answer)
    return f" with the JSON-RPC error {code}" if code is not None else ""
