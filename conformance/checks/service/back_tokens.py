"""Which of a user's tokens is redeemed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.checks.service._failing_parties import USER, require_works
from gateproof.conformance.checks.service._short_merchant_tokens import end_of_a_short_token
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld, unseen_subject
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import Endpoint

_Ask = Callable[[str], Exchange]
# The lifetime of the first merchant token; beginning a session takes part of it.
LIFE_S = 3.0


@check("BACK-04")
def token_of_the_call_is_redeemed(service: Service, world: ServiceWorld) -> None:
    """If a user calls with a second token, that token is redeemed and not the user's first one.

    A cached merchant token may be used until it expires, so the second call comes later: if it causes no
    redemption, nothing is shown. Over MCP the second token is also sent in the same session.
    """
    gateway = world.gateway
    require_works(service, world)
    before = {"in another call": _served_before(service, world, lambda _: service.serve)}
    if service.operation.kind == "mcp":
        before["in the same session"] = _served_before(
            service, world, lambda token: session_of(service, token).call
        )
    wait_for(Cause.EXPIRY, max(0.0, max(each.expires for each in before.values()) + 1 - time.time()))
    unasked = []
    for place, each in before.items():
        mark, token = gateway.journal.mark(), gateway.access_token(USER, sub=each.subject)
        each.ask(token)
        calls = gateway.journal.since(mark, Endpoint.REDEMPTION)
        unasked += [] if calls else [place]
        bearers = [(call.header("authorization") or "").partition(" ")[2] for call in calls]

        expect.that(
            all(bearer == token for bearer in bearers),
            f"Authorization of the redemption for a user who called before with another token, {place}",
            expected="the token of this call",
            got="the token of the call before" if each.first in bearers else "something else",
        )
    if unasked:
        where = ", ".join(unasked)
        raise LeftOut(f"the service makes no redemption when a user calls with another token {where}")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Before:
    """A user who was served with a first token and an expiring merchant token, and how to call again."""

    subject: str
    first: str
    expires: float
    ask: _Ask


def _served_before(service: Service, world: ServiceWorld, begun: Callable[[str], _Ask]) -> _Before:
    subject = unseen_subject()
    first = world.gateway.access_token(USER, sub=subject)
    ask = begun(first)
    expires = end_of_a_short_token(service, world, lambda: ask(first), life_s=LIFE_S, said=TIMESTAMPS["utc"])
    return _Before(subject=subject, first=first, expires=expires, ask=ask)
