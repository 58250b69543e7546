"""Calls that arrive while a Proxy token is requested are served like others."""

from __future__ import annotations

from gateproof.conformance.checks.service._ending_proxy_token import proxy_token_has_ended
from gateproof.conformance.checks.service._failing_parties import require_works
from gateproof.conformance.checks.service.serve_concurrent import is_shed
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.client import asked_to_wait
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import Answer, Endpoint

USER = USERS[0]
CALLS = 3
# The delay of the next token: all calls must arrive before it, and a service must not give up on it.
DELAY_S = 0.5


@check("SERVE-01")
def calls_that_wait_for_a_proxy_token_are_served(service: Service, world: ServiceWorld) -> None:
    """Concurrent calls that all need the next Proxy token show the orders, at one of two tries.

    First one call alone needs it: if that fails, the service may lose a call at each renewal. If it serves
    fewer calls at once, it loses some of them with a good Proxy token, too.
    """
    require_works(service, world)
    if _lost(service, world, 1):
        raise LeftOut("the service loses a call at the end of a Proxy token, also one that comes alone")
    lost = _lost(service, world, CALLS) and _lost(service, world, CALLS)
    if any(is_shed(service, each) for each in lost) and _slow_calls_lost(service, world):
        raise LeftOut("the service serves fewer calls at once")
    expect.that(
        not lost,
        f"{CALLS} calls at once at the end of a Proxy token",
        expected="the orders for each of them, at one of two tries",
        got=f"{len(lost)} without: " + "; ".join(sorted({each.outcome() for each in lost})),
        exchange=lost[0] if lost else None,
    )


def _lost(service: Service, world: ServiceWorld, count: int) -> list[Exchange]:
    """The answers without orders to so many calls at once, after the end of a Proxy token.

    The next token comes late. The earlier tokens of other processes are good.
    """
    gateway = world.gateway
    proxy_token_has_ended(service, world)
    gateway.revive_proxy_tokens()
    mark = gateway.journal.mark()
    lost = _unserved(service, world, count, Endpoint.TOKEN)
    if not gateway.journal.since(mark, Endpoint.TOKEN):
        raise LeftOut("the service requests no other Proxy token when the stated life of one is over")
    return lost


def _slow_calls_lost(service: Service, world: ServiceWorld) -> list[Exchange]:
    """The answers without orders to calls at once whose redemption comes late; the Proxy token is good."""
    require_works(service, world)
    return _unserved(service, world, CALLS, Endpoint.REDEMPTION)


def _unserved(service: Service, world: ServiceWorld, count: int, late: Endpoint) -> list[Exchange]:
    service.connect(count)
    world.gateway.script.always(late, Answer(delay_s=DELAY_S))
    tokens = [world.unseen_token(USER) for _ in range(count)]
    answers = service.serve_all_once(tokens, at_once=count)
    world.gateway.script.clear()
    # A service may ask a caller to come again while it waits itself.
    ends = [
        answer if asked_to_wait(answer.answer) is None else service.serve(token)
        for token, answer in zip(tokens, answers, strict=True)
    ]
    orders = world.gateway.orders_of(USER)
    return [each for each in ends if not service.returns_orders(each, orders)]
