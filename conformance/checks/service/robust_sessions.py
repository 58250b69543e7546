"""Odd values in the headers of MCP."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.checks.service._good_call import require_works
from gateproof.conformance.kit.inputs import odd_input as odd
from gateproof.conformance.kit.robust_answers import ask_all, is_robust
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect

USER = USERS[0]
NAMES: Mapping[str, str] = {
    **{name: name for name in odd.SPECIAL_NAMES},
    "no UUID": "not-a-uuid",
    "zero": "0",
    "long": "x" * odd.LONG,
    "path": "../x",
    "not UTF-8": "\xff",
}
# Only a few: reading what may be a stream takes a moment each time.
_NAMES_OF_STREAMS = ("__proto__", "constructor", "no UUID", "not UTF-8")
EVENTS = ("x", "-1", "99999999999999999999", "constructor")
VERSIONS = ("x", "constructor", "9999-99-99", "2025-06-18.1", "-1")
# A server may limit the number of open streams.
_BUSY = 503


@check("ROBUST-01", cases=("session", "event", "version"))
def operation_takes_any_header_of_mcp(service: Service, world: ServiceWorld, case: str) -> None:
    """With a good token, no session ID, event ID or version in a header makes an MCP server fail.

    The session ID comes with a call, a request for a stream, and the end of a session.
    """
    require_works(service, world)
    token = world.gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), world.gateway.orders_of(USER))
    match case:
        case "session":
            named = {name: session.named(value) for name, value in NAMES.items()}
            _open_any_stream({name: named[name] for name in _NAMES_OF_STREAMS}, token)
            ask_all(service, "operation", {name: each.lone_call(token) for name, each in named.items()})
            endings = {name: each.ending(token) for name, each in named.items()}
            ask_all(service, "end of the session", endings)
        case "event":
            _open_any_stream({event: session.resumed_at(event) for event in EVENTS}, token)
        case _:
            of_versions = {version: session.of_version(version) for version in VERSIONS}
            calls = {version: each.lone_call(token) for version, each in of_versions.items()}
            ask_all(service, "operation", calls)


def _open_any_stream(sessions: Mapping[str, ServiceSession], token: str) -> None:
    """Expects no server error for a request for a stream; an open stream need not send anything."""
    for name, session in sessions.items():
        answer = session.listen_while(token, lambda: None)
        expect.that(
            answer.status in (None, _BUSY) or is_robust(answer),
            answer.step,
            expected="a stream, or a status below 500",
            got=f"{answer.outcome()} to {name}",
            exchange=answer,
        )
