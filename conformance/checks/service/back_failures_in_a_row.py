"""Recovery after many calls in a row have failed: a circuit breaker that opened has to close again."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._failing_parties import (
    expect_recovered,
    fault,
    require_works,
)
from gateproof.conformance.checks.service._proxy_calls import USER
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, require
from gateproof.fakes.gateway.script import Answer, Endpoint

# Many breakers open after three, five or ten failures in a row.
IN_A_ROW = 12
# A service that pauses between its tries takes long for each call.
LONGEST_S = 30.0
BREAKING = {
    "redemption, 500": (Endpoint.REDEMPTION, Answer(status=500)),
    "redemption, reset": (Endpoint.REDEMPTION, Answer(reset=True)),
    "Proxy token, 500": (Endpoint.TOKEN, Answer(status=500)),
    "merchant API, 500": (Endpoint.MERCHANT_API, Answer(status=500)),
}


@check("BACK-06", needs=["faults"], cases=BREAKING)
def failures_in_a_row_are_followed_by_recovery(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, Answer]
) -> None:
    """After many calls in a row have failed, the operation works again.

    A service with a circuit breaker stops calling the party meanwhile, and has to call it again later.
    """
    endpoint, failure = case
    gateway = world.gateway
    require_works(service, world)
    mark, begun = gateway.journal.mark(), time.monotonic()
    if endpoint is Endpoint.TOKEN:
        gateway.revoke_proxy_tokens()
    gateway.script.always(endpoint, failure)
    calls = 0
    while calls < IN_A_ROW and time.monotonic() < begun + LONGEST_S:
        service.serve_once(world.unseen_token(USER))
        calls += 1
    gateway.script.clear()
    met = len(gateway.journal.since(mark, endpoint))
    if endpoint is Endpoint.TOKEN and not met:
        gateway.revive_proxy_tokens()
        raise LeftOut("the service requests no other Proxy token before the old one expires")
    require.that(
        met > 0, "operations of users who are new", expected=f"a call of the {endpoint.value}", got="none"
    )

    name = "reset" if failure.reset else str(failure.status)
    count_fault(fault(endpoint, f"{name} again and again"), met)
    expect_recovered(service, world)
