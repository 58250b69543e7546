"""How long the service reuses a Proxy token that is valid for an hour.

This check runs last of its family, and its module name must sort last: a service that uses only the lifetime
requests no other token afterwards.
"""

from __future__ import annotations

from gateproof.conformance.checks.service._proxy_calls import MOST_REQUESTS, asks, serves
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import Endpoint

IN_A_ROW = 20
# If milliseconds are mistaken for seconds, or the reverse, an hour becomes three and a half seconds. For each
# pause but one there may be a worker process that has had no call.
PAUSES, PAUSE_S = 4, 4.5


@check("BACK-02")
def proxy_token_is_reused(service: Service, world: ServiceWorld) -> None:
    """Twenty calls in a row, and calls a few seconds later, reuse a Proxy token that lasts an hour.

    A service that requests another token after each of four short pauses keeps it for seconds only. One pause
    more is made if each of four workers may have an earlier token whose short lifetime ends meanwhile.
    """
    pauses = PAUSES + world.service_state.goes_by_lifetime
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.proxy_token_life_s = PROXY_TOKEN_S
    for _ in range(IN_A_ROW):
        serves(service, world)
    asked = len(gateway.journal.since(mark, Endpoint.TOKEN))

    observe(requests_in_a_row=asked)
    expect.that(
        asked <= MOST_REQUESTS,
        f"Proxy token requests for {IN_A_ROW} calls in a row",
        expected=f"{MOST_REQUESTS} at most",
        got=f"{asked}",
    )
    expect.that(
        not all(asks(service, world, PAUSE_S) for _ in range(pauses)),
        f"calls after each of {pauses} pauses of {PAUSE_S:g} s",
        expected="the earlier Proxy token, once at least",
        got="a request for a new one each time",
    )
