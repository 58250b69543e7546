"""Calls that arrive while a Proxy token is requested."""

from __future__ import annotations

from gateproof.conformance.checks.service._ending_proxy_token import proxy_token_has_ended
from gateproof.conformance.checks.service._failing_parties import require_works
from gateproof.conformance.checks.service._proxy_calls import USER
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.fakes.gateway.script import Answer, Endpoint

CALLS = 6
# The delay of the next token: all calls must arrive before it.
DELAY_S = 0.5


@check("BACK-04")
def callers_who_wait_for_a_proxy_token_redeem_with_one(service: Service, world: ServiceWorld) -> None:
    """Calls that arrive while a Proxy token is requested redeem with a Proxy token, or not at all.

    The token may be the one that has just ended.
    """
    gateway = world.gateway
    require_works(service, world)
    proxy_token_has_ended(service, world)
    service.connect(CALLS)
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=DELAY_S))
    service.serve_all_once([world.unseen_token(USER) for _ in range(CALLS)], at_once=CALLS)
    gateway.script.clear()
    if not gateway.journal.since(mark, Endpoint.TOKEN):
        raise LeftOut("the service requests no other Proxy token when the stated life of one is over")
    redemptions = gateway.journal.since(mark, Endpoint.REDEMPTION)
    require.that(bool(redemptions), f"{CALLS} calls at once", expected="a redemption", got="none")

    known = {each.value for each in gateway.proxy_tokens}
    for call in redemptions:
        given = call.headers_named("x-proxy-token")
        expect.that(
            len(given) == 1 and given[0] in known,
            f"X-Proxy-Token of {CALLS} calls at once, while a Proxy token was requested",
            expected="a Proxy token, bare",
            got="something else" if given else "no such header",
        )
