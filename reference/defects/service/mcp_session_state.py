"""MCP services that keep in a session what they should look up for each call."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.defects.service.users import until_it_expires
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outgoing


def session_in(facts: CallFacts) -> str:
    """The session of a call; empty outside of MCP."""
    return next(iter(facts.asked.headers_named(SESSION)), "")


def proxy_token_of_the_session() -> Callable[[CallFacts], Outgoing]:
    """`new McpServer({ backend: new Backend(await proxyToken()) })` for each session."""
    tokens: dict[str, str] = {}

    def request(facts: CallFacts) -> Outgoing:
        token = tokens.setdefault(session_in(facts), facts.proxy_token)
        return redemption.redemption_request(replace(facts, proxy_token=token))

    return request


def merchant_token_of_the_session() -> dict[str, Any]:
    """`session.merchantToken`, for the user to whom the session belongs, whatever the Project is."""

    def key(facts: CallFacts) -> Hashable:
        return session_in(facts), facts.claims.get("sub")

    return {"cache_key": key, "cached_until": until_it_expires}


def failures_of_the_session() -> Any:
    """`session.merchantToken ??= redeem()` keeps a rejected promise."""
    failed: set[str] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        session = asked.headers.get(SESSION, "")
        if session and answered.status == 503:
            failed.add(session)
        calls = b'"tools/call"' in asked.body
        return replace(answered, status=503, body=b"") if calls and session in failed else answered

    return altering_answers(change)


DEFECTS = (
    mcp_defect(
        "proxy-token-of-the-session (BACK-03): Each session redeems with the Proxy token of its first call "
        "until the session ends.",
        redemption_request=proxy_token_of_the_session(),
    ),
    mcp_defect(
        "merchant-token-of-the-session (BACK-08): The service keeps a user's merchant token in the session "
        "until it expires, and uses it there for tokens of other Projects, too.",
        **merchant_token_of_the_session(),
    ),
    mcp_defect(
        "failed-redemption-kept-in-the-session (BACK-06): After one failed call in a session, every later "
        "call in it fails.",
        around=failures_of_the_session(),
    ),
)
