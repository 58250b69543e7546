"""Requests of an MCP client that are no operations: they get the challenge as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.service.chal_operations import CHALLENGE, OUTSIDE, begun
from gateproof.conformance.kit.service.mcp_session import ServiceSession
from gateproof.conformance.kit.service.service import Service, expect_challenge
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire import mcp
from gateproof.conformance.wire.exchange import Exchange

_NOT_ALLOWED = 405
_NOTIFICATIONS = ("notifications/initialized", "notifications/cancelled")


def _ping(session: ServiceSession, token: str | None) -> Exchange:
    return session.ask("ping", {}, token)


def _stream(session: ServiceSession, token: str | None) -> Exchange:
    """The head of the answer is awaited as long as any other; an open stream ends with its first octets."""
    return session.opened_stream(token)


def _ending(session: ServiceSession, token: str | None) -> Exchange:
    return session.end(token)


# Optional features: a server without them answers 405, also to a good token.
NOT_NEEDED: Mapping[str, Callable[[ServiceSession, str | None], Exchange]] = {
    "stream": _stream,
    "end-of-a-session": _ending,
}


@check("CHAL-11")
def initialize_without_a_token_gets_the_challenge(service: Service, world: ServiceWorld) -> None:
    """Without a token, no session starts."""
    session, _ = begun(service, world)

    _gets_it(
        service.wire.send("operation: initialize", mcp.initialize(session.url, ())), tells_of_sessions=False
    )


@check("CHAL-11")
def ping_without_a_token_gets_the_challenge(service: Service, world: ServiceWorld) -> None:
    """A ping without a token gets the challenge."""
    session, token = begun(service, world)
    answer = _ping(session, token)
    require.that(
        answer.status is not None and 200 <= answer.status < 300,
        "ping with a good token, in its session",
        expected="success",
        got=answer.outcome(),
        exchange=answer,
    )

    _gets_it(_ping(session.without_id(), None))


@check("CHAL-11", cases=_NOTIFICATIONS)
def notification_without_a_token_gets_the_challenge(service: Service, world: ServiceWorld, case: str) -> None:
    """A notification without a token gets the challenge, although it has no response of its own."""
    session, _ = begun(service, world)
    message = {"jsonrpc": "2.0", "method": case}
    params = {"params": {"requestId": "nobodys"}} if case.endswith("cancelled") else {}
    posted = session.without_id().posted(None, {**message, **params})

    _gets_it(service.wire.send(f"operation: {case}", posted))


@check("CHAL-11", cases=NOT_NEEDED)
def request_without_a_body_gets_the_challenge(
    service: Service, world: ServiceWorld, case: Callable[[ServiceSession, str | None], Exchange]
) -> None:
    """Listening and ending a session need a token, also if the request names no session."""
    session, token = begun(service, world)
    answer = case(session.without_id(), None)
    if answer.status == _NOT_ALLOWED:
        with_token = case(session, token)
        expect.that(
            with_token.status == _NOT_ALLOWED,
            f"{answer.step} without a token, outside of a session",
            expected=f"{CHALLENGE}, since a good token is answered {with_token.outcome()}",
            got=answer.outcome(),
            exchange=answer,
        )
        return

    _gets_it(answer)


def _gets_it(answer: Exchange, *, tells_of_sessions: bool = True) -> None:
    """Expects the challenge, or the status for a missing session, which some servers check first."""
    if answer.status == 401:
        expect_challenge(answer)
        return
    expect.that(
        tells_of_sessions and answer.status in OUTSIDE,
        f"{answer.step} without a token, outside of a session",
        expected=CHALLENGE,
        got=answer.outcome(),
        exchange=answer,
    )
