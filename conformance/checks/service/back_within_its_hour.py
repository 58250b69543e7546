"""How long the service keeps a Proxy token that is good for an hour.

This check comes last of its family: a service that goes by the lifetime alone asks for no other token then.
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
# An hour in milliseconds that is taken for seconds, or the other way round, is three seconds and a half; and
# there may be a worker process that has had no call for each pause but one.
PAUSES, PAUSE_S = 4, 4.5


@check("BACK-02")
def proxy_token_is_reused(service: Service, world: ServiceWorld) -> None:
    """Twenty calls in a row share a Proxy token that lasts an hour, and so do calls a few seconds later.

    Whoever asks for another one after every one of four short pauses keeps it for seconds. There is a pause
    more where each of four workers may have one from before, whose short life ends meanwhile.
    """
    pauses = PAUSES + world.standing.goes_by_lifetime
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
        expected="the Proxy token of before, once at least",
        got="a request for a new one each time",
    )
