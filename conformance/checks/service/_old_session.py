"""An MCP session that is opened before the end of a Proxy token, and used after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gateproof.conformance.checks.service._expiring import OUTSIDE, TIMESTAMPS
from gateproof.conformance.checks.service._failing_parties import called_since
from gateproof.conformance.checks.service._proxy_calls import USER, refused_proxy_tokens
from gateproof.conformance.checks.service._short_merchant_tokens import end_of_a_short_token
from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.old_session import CallsInAnOldSession
from gateproof.conformance.kit.service.retry_after import repeat_while_asked_to_wait
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut, Unmet
from gateproof.conformance.wire.client import RateLimited
from gateproof.fakes.gateway.script import Endpoint

# The merchant token of the first call has ended by the time of the next one, so that is a redemption again.
_MERCHANT_TOKEN_S = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class OldSession:
    """A session in which a call with this token was served."""

    session: ServiceSession
    token: str = field(repr=False)


def session_that_redeems(service: Service, world: ServiceWorld) -> OldSession | None:
    """Opens a session and calls in it; None without MCP sessions, or if the call is not served."""
    token = world.unseen_token(USER)
    try:
        session = session_of(service, token)
        end_of_a_short_token(
            service,
            world,
            lambda: session.call(token),
            life_s=_MERCHANT_TOKEN_S,
            said=TIMESTAMPS["utc"],
        )
    except (LeftOut, RateLimited):
        return None
    except Unmet as unmet:
        if unmet.owner:
            raise
        return None
    return OldSession(session=session, token=token)


def called_in_an_old_session(world: ServiceWorld, old: OldSession, holders: int) -> CallsInAnOldSession:
    """Calls in the session after the end; stops if it is unknown or if a token was refused again.

    Each process may fail once on its own ended token.
    """
    journal, lost = world.gateway.journal, Counter[str]()
    begun = journal.mark()
    for _ in range(2 * holders + 1):
        mark = journal.mark()
        try:
            answer = repeat_while_asked_to_wait(
                lambda: old.session.call_once(old.token),
                called_since(world, mark, Endpoint.TOKEN, Endpoint.REDEMPTION),
            )
        except RateLimited:
            break
        if answer.status in OUTSIDE:
            break
        if not old.session.service.returns_orders(answer, world.gateway.orders_of(USER)):
            lost.update(refused_proxy_tokens(world, mark))
        if max(lost.values(), default=0) > 1:
            return CallsInAnOldSession(redeemed=True, lost_again=answer)
    redeemed = bool(journal.since(begun, Endpoint.REDEMPTION))
    return CallsInAnOldSession(redeemed=redeemed, lost_again=None)
