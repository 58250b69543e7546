"""Answers of gateway and merchant in gzip, for a service that accepts it."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import (
    USER,
    failing_token_endpoint,
    require_works,
)
from gateproof.conformance.kit.service.recovery import call_until_recovered
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.fakes.gateway.application import asks_for_gzip
from gateproof.fakes.gateway.script import Answer, Endpoint

_GZIPPED = Answer(gzips=True)
# The call with the refused Proxy token may fail. The next ones use the new token.
_WITHIN_S = 10.0
PARTIES = {each.value: each for each in (Endpoint.TOKEN, Endpoint.REDEMPTION, Endpoint.MERCHANT_API)}


@check("SERVE-01", cases=PARTIES)
def answer_in_gzip_is_read(service: Service, world: ServiceWorld, case: Endpoint) -> None:
    """A service that accepts gzip serves the orders if a party answers in gzip (RFC 9110 section 12.5.3)."""
    gateway, orders = world.gateway, world.gateway.orders_of(USER)
    require_works(service, world)
    mark = gateway.journal.mark()
    if case is Endpoint.TOKEN:
        answer, _ = failing_token_endpoint(service, world, _GZIPPED)
        if not service.returns_orders(answer, orders):
            gateway.script.always(case, _GZIPPED)
            answer = call_until_recovered(service, world, _WITHIN_S)
    else:
        gateway.script.always(case, _GZIPPED)
        answer = service.serve(world.unseen_token(USER))
    gateway.script.clear()
    calls = gateway.journal.since(mark, case)
    require.that(
        bool(calls), "operation of a user who is new", expected=f"a call of the {case.value}", got="none"
    )
    if not any(asks_for_gzip(call) for call in calls):
        raise LeftOut(f"the service does not accept gzip from the {case.value}")

    expect.that(
        service.returns_orders(answer, orders),
        f"{answer.step} with an answer of the {case.value} in gzip",
        expected="success with the orders",
        got=answer.outcome(),
        exchange=answer,
    )
