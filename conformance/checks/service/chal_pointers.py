"""The challenge leads to the metadata wherever a request is refused, also in a session."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from gateproof.conformance.checks.service._altered_tokens import expired, good_token
from gateproof.conformance.checks.service._pointers import expect_same_document, first_pointer
from gateproof.conformance.checks.service.chal import NO_TOKENS
from gateproof.conformance.checks.service.chal_operations import begun
from gateproof.conformance.kit.service.mcp_session import ServiceSession
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.wire.exchange import Exchange

# Requests in a session that a server may refuse in another part of its code than the start of the session.
IN_A_SESSION: dict[str, Callable[[ServiceSession, ServiceWorld], Exchange]] = {
    "call": lambda session, _: session.call(None),
    "call-with-an-expired-token": lambda session, world: session.call(expired(world)),
    "call-with-garbage": lambda session, _: session.call(f"garbage-{secrets.token_hex(8)}"),
    "list": lambda session, _: session.ask("tools/list", {}, None),
    "stream": lambda session, _: session.opened_stream(None),
    "unknown-session": lambda session, _: session.named("0" * 32).call(None),
    "without-its-session": lambda session, _: session.without_id().call(None),
}
# Authorization headers that a service may refuse before it reads a token.
HEADERS = ("basic", "another-scheme", "bearer-alone", "no-scheme", "no-space", "punctuation")


@check("CHAL-02", cases=IN_A_SESSION)
def challenge_in_a_session_points_there_too(
    service: Service, world: ServiceWorld, case: Callable[[ServiceSession, ServiceWorld], Exchange]
) -> None:
    """A refused request in an MCP session gets the address that a session without a token gets."""
    session, _ = begun(service, world)
    first = first_pointer(service)

    expect_same_document(service, first, case(session, world), "in a session")


@check("CHAL-02", cases={name: NO_TOKENS[name] for name in HEADERS})
def challenge_for_another_header_points_there_too(
    service: Service, world: ServiceWorld, case: Callable[[str], str]
) -> None:
    """A request whose Authorization header has no Bearer token gets the address of one without a token."""
    good_token(service, world)
    first = first_pointer(service)
    header = case(world.gateway.misplaced_token(USERS[0]))

    expect_same_document(service, first, service.operate(header), "for a header without a Bearer token")
