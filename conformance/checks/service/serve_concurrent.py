"""Concurrent calls with a good token."""

from __future__ import annotations

from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import Answer, Endpoint

USER = USERS[0]
CALLS = 6
# The delay of each answer: long enough for all calls to overlap.
DELAY_S = 0.1
# Statuses of a service that sheds load, or that has too few connections, so that a timeout passes.
_SHED = frozenset({429, 502, 503, 504})
# Statuses with which an MCP server says the same, or that it ended a session when another one started.
_OF_MCP = frozenset({200, 400, 403, 404, 409})


@check("SERVE-01")
def one_token_is_good_for_calls_at_once(service: Service, world: ServiceWorld) -> None:
    """Concurrent calls with one token all show the orders, at the first burst and again.

    If a service sheds load, the calls are repeated one after the other. A call may fail by chance once, but
    not twice.
    """
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API):
        world.gateway.script.always(endpoint, Answer(delay_s=DELAY_S))
    token = world.unseen_token(USER)
    lost = _lost(service, world, token)
    if lost:
        token = world.unseen_token(USER)
        lost = _lost(service, world, token)
    _no_orders_lost(lost, "of a user who is new")
    lost = _lost(service, world, token) and _lost(service, world, token)
    _no_orders_lost(lost, "with a token that was served before")


def _no_orders_lost(lost: list[Exchange], whose: str) -> None:
    expect.that(
        not lost,
        f"{CALLS} calls at once {whose}, and with one and the same token",
        expected="the orders for each of them",
        got=f"{len(lost)} without: " + "; ".join(sorted({each.outcome() for each in lost})),
        exchange=lost[0] if lost else None,
    )


def _lost(service: Service, world: ServiceWorld, token: str) -> list[Exchange]:
    """The answers without orders to concurrent calls with this token."""
    orders = world.gateway.orders_of(USER)
    answers = service.serve_all_once([token] * CALLS, at_once=CALLS)
    unserved = [each for each in answers if not service.returns_orders(each, orders)]
    asked_again = [service.serve(token) if is_shed(service, each) else each for each in unserved]
    lost = [each for each in asked_again if not service.returns_orders(each, orders)]
    if any(is_shed(service, each) for each in lost):
        raise LeftOut("the service accepts fewer concurrent calls, also after a short wait")
    return lost


def is_shed(service: Service, answer: Exchange) -> bool:
    return answer.status in (_SHED | _OF_MCP if service.operation.kind == "mcp" else _SHED)
