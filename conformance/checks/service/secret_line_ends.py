"""Tokens with a line end, which no header can contain: a library's error may quote them."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import (
    failing,
    failing_token_endpoint,
    require_recovered,
    require_works,
)
from gateproof.conformance.checks.service._secrecy import EVERY
from gateproof.conformance.kit.service.received import ServiceReceived
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import Answer, Endpoint

# The lifetime of a Proxy token with a line end: the service must not keep it for long.
LIFE_S = 2
# How many such tokens the gateway issues: a service that renews early may find each one expired.
MOST_BROKEN = 4
# How often in a row a service has to renew its Proxy token at the expiry before the check relies on it.
TIMES = 2


@check("SECRET-06")
def merchant_token_with_a_line_end_is_not_quoted(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """A merchant token with a line end is not quoted in the answer to the agent."""
    require_works(service, world)
    broken = Answer(members={"access_token": _with_a_line_end(world.gateway.merchant_token(USERS[0]))})
    answer, _ = failing(service, world, Endpoint.REDEMPTION, broken, world.unseen_token(USERS[0]))

    _hidden(received, answer)


@check("SECRET-06")
def proxy_token_with_a_line_end_is_not_quoted(
    service: Service, world: ServiceWorld, received: ServiceReceived
) -> None:
    """A Proxy token with a line end is not quoted in the answer to the agent.

    It is tried only if the service requests another Proxy token at the expiry: a service that keeps tokens
    for longer could not redeem meanwhile.
    """
    gateway = world.gateway
    require_works(service, world)
    failing_token_endpoint(service, world, Answer(members={"expires_in": LIFE_S}), times=1)
    if not all(_asks_in_time(service, world) for _ in range(TIMES)):
        raise LeftOut(
            f"the service keeps a Proxy token for longer than the {LIFE_S} s that it is good for, or does "
            "not serve each call with such tokens"
        )
    token = _with_a_line_end(gateway.proxy_token().value)
    broken = Answer(members={"access_token": token, "expires_in": LIFE_S})
    answer, _ = failing_token_endpoint(service, world, broken, times=MOST_BROKEN)

    _hidden(received, answer)
    # Any process of the service may hold such a token until it expires.
    wait_for(Cause.EXPIRY, LIFE_S + 0.5)
    require_recovered(service, world)


def _asks_in_time(service: Service, world: ServiceWorld) -> bool:
    """True if the service requests another Proxy token after the expiry of one, before any was refused.

    False also if the call fails: another process of the service may still have a revoked token.
    """
    gateway, mark = world.gateway, world.gateway.journal.mark()
    gateway.script.tape(Endpoint.TOKEN, [Answer(members={"expires_in": LIFE_S})])
    wait_for(Cause.EXPIRY, LIFE_S + 0.5)
    served = service.returns_orders(service.serve(world.unseen_token(USERS[0])), gateway.orders_of(USERS[0]))
    gateway.script.clear()
    calls = gateway.journal.since(mark, Endpoint.TOKEN, Endpoint.REDEMPTION)
    refused = any(call.endpoint is Endpoint.REDEMPTION and call.status != 200 for call in calls)
    return served and not refused and any(call.endpoint is Endpoint.TOKEN for call in calls)


def _with_a_line_end(token: str) -> str:
    """The token with a line end in its middle; each half is long enough to be recognized."""
    middle = len(token) // 2
    return f"{token[:middle]}\n{token[middle:]}"


def _hidden(received: ServiceReceived, answer: Exchange) -> None:
    if answer.answer is None:
        raise LeftOut("the operation got no answer, in which nothing can be quoted")
    found = received.leaks_of([answer], *EVERY)

    expect.that(
        not found,
        "answer to the agent, after a token that no header can contain",
        expected="no credential of the backend",
        got="; ".join(dict.fromkeys(leak.said() for leak in found[:4])),
        exchange=answer,
    )
