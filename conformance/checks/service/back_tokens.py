"""Which of a user's tokens is redeemed."""

from __future__ import annotations

import time

from conformance.check import check
from conformance.checks.service._expiring import TIMESTAMPS
from conformance.checks.service._trouble import USER, works
from conformance.claims import LeftOut, expect
from conformance.run.service_world import ServiceWorld, unseen_subject
from conformance.service import Service, served
from conformance.service_session import session_of
from fakes.gateway.script import Answer, Endpoint

# So long is the merchant token good that a user is served by first: to begin a session takes some of it.
LIFE_S = 3.0


@check("BACK-04", cases=("in-another-call", "in-the-same-session"))
def token_of_the_call_is_redeemed(service: Service, world: ServiceWorld, case: str) -> None:
    """When a user comes with another token, that one is redeemed, and not the first that came from this user.

    A merchant token that is kept may be used until it expires, so the other call comes later: who asks for no
    redemption then shows nothing of this.
    """
    gateway = world.gateway
    works(service, world)
    subject, expires = unseen_subject(), time.time() + LIFE_S
    first = gateway.access_token(USER, sub=subject)
    gateway.script.always(Endpoint.REDEMPTION, Answer(members={"expires_at": TIMESTAMPS["utc"](expires)}))
    ask = service.serve if case == "in-another-call" else session_of(service, first).call
    served(ask(first), gateway.orders_of(USER))
    gateway.script.clear()
    time.sleep(max(0.0, expires + 1 - time.time()))
    mark, token = gateway.journal.mark(), gateway.access_token(USER, sub=subject)
    ask(token)
    calls = gateway.journal.since(mark, Endpoint.REDEMPTION)
    if not calls:
        raise LeftOut("the service asks for no redemption when a user comes again with another token")
    bearers = [(call.header("authorization") or "").partition(" ")[2] for call in calls]

    expect.that(
        all(bearer == token for bearer in bearers),
        "Authorization of the redemption for a user who came before with another token",
        expected="the token of this call",
        got="the token of the call before" if first in bearers else "something else",
    )
