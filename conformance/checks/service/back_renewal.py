"""Many concurrent calls when a Proxy token has to be renewed."""

from __future__ import annotations

from gateproof.conformance.checks.service._ending_proxy_token import proxy_token_has_ended
from gateproof.conformance.checks.service._failing_parties import require_works
from gateproof.conformance.checks.service._proxy_calls import USER
from gateproof.conformance.kit.service.processes import PROCESSES, processes
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.fakes.gateway.script import Answer, Endpoint

BURST = 12
# The delay of the next token: a fast service must not have it before the other calls come.
DELAY_S = 0.5


@check("BACK-02")
def burst_at_the_end_of_a_proxy_token_shares_the_next(service: Service, world: ServiceWorld) -> None:
    """Concurrent calls after the end of a Proxy token share the next one, which lasts an hour.

    One request for each worker process is allowed at most, as for the first calls.
    """
    gateway, most = world.gateway, max(PROCESSES, processes(world))
    if most >= BURST:
        raise LeftOut(f"so many processes may request a Proxy token for {BURST} calls at once")
    require_works(service, world)
    proxy_token_has_ended(service, world)
    service.connect(BURST)
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.TOKEN, Answer(delay_s=DELAY_S))
    answers = service.serve_all([world.unseen_token(USER) for _ in range(BURST)], at_once=BURST)
    gateway.script.clear()
    good = sum(service.returns_orders(answer, gateway.orders_of(USER)) for answer in answers)
    asked = len(gateway.journal.since(mark, Endpoint.TOKEN))
    require.that(good > 0, f"{BURST} calls at once", expected="one that is served", got="none")
    if not asked:
        raise LeftOut("the service requests no other Proxy token when the stated life of one is over")

    observe(requests_at_a_renewal=asked)
    expect.that(
        asked <= most,
        f"Proxy token requests for {BURST} calls at once, after the end of the last token",
        expected=f"{most} at most",
        got=f"{asked}",
    )
