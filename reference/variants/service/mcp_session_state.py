"""Other legal ways for an MCP server to keep something in a session."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from gateproof.reference.defects.service.mcp_session_state import session_in
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION
from gateproof.reference.service.policy import redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outgoing
from gateproof.reference.variants.variant import mcp_variant

_UNKNOWN = Answered(
    status=404, headers=(("content-type", "application/json"),), body=b'{"error": "no such session"}'
)


def _ended_by_a_failure() -> Callable[[Asked, Answered, Backend], Answered]:
    """A session in which a call failed is unknown from then on."""
    ended: set[str] = set()

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        session = asked.headers.get(SESSION, "")
        if session in ended and answered.status != 401:
            return _UNKNOWN
        if session and answered.status >= 500:
            ended.add(session)
        return answered

    return change


def _ended_with_their_proxy_token() -> dict[str, Any]:
    """A session is unknown once a call in it redeems with another Proxy token than the first one did."""
    first: dict[str, str] = {}
    ended: set[str] = set()

    def request(facts: CallFacts) -> Outgoing:
        session = session_in(facts)
        if session and first.setdefault(session, facts.proxy_token) != facts.proxy_token:
            ended.add(session)
        return redemption.redemption_request(facts)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        gone = asked.headers.get(SESSION, "") in ended and answered.status != 401
        return _UNKNOWN if gone else answered

    return {"redemption_request": request, "around": altering_answers(change)}


def _by_session_and_user(facts: CallFacts) -> Hashable:
    return session_in(facts), by_user(facts)


VARIANTS = (
    mcp_variant(
        "sessions-end-with-a-failure: a session in which a call failed is unknown from then on",
        around=altering_answers(_ended_by_a_failure()),
    ),
    mcp_variant(
        "sessions-end-with-their-proxy-token: a session is unknown once a call in it needs another Proxy "
        "token than its first call",
        **_ended_with_their_proxy_token(),
    ),
    mcp_variant(
        "merchant-tokens-kept-in-the-session: the service keeps a merchant token in the session until it "
        "expires, for its user and Project",
        cache_key=_by_session_and_user,
        cached_until=until_it_expires,
    ),
)
