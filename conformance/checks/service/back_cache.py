"""The behaviour of a service whose Proxy token has ended.

These checks run after those about the first calls: the first Proxy tokens of a world have a short stated
lifetime, so that the checks can wait for their end. They run before the checks in which Proxy tokens are
refused: a service that has just replaced a refused token may wait before it does so again.
"""

from __future__ import annotations

import time
from collections import Counter

from gateproof.conformance.checks.service._old_session import called_in_an_old_session, session_that_redeems
from gateproof.conformance.checks.service._proxy_calls import (
    USER,
    refused_proxy_tokens,
    require_served_uncached,
)
from gateproof.conformance.kit.service.processes import PROXY_TOKEN_HEADER, processes
from gateproof.conformance.kit.service.retry_after import repeat_while_asked_to_wait
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import FIRST_PROXY_TOKENS_S, ServiceWorld
from gateproof.conformance.suite.campaign import Campaign
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unavailable, expect, observe
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.turn import Turn
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import PROXY_TOKEN_GRACE_S
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S, ProxyToken
from gateproof.fakes.gateway.script import Endpoint

# A service that replaces a revoked Proxy token does so soon.
MENDS_WITHIN_S = 10
# Extra time after the grace period of a Proxy token: a service may have received the token a moment later.
MOMENT_S = 2.0
_REPLACED = "the service replaces a Proxy token that is refused, so the next end shows nothing new"
_WHOLE_HOUR = (
    "the service keeps its Proxy token for the whole of its hour: start it again, or wait until that hour is"
    " over, and then run once more"
)


@check("BACK-03", turn=Turn.END_OF_A_PROXY_TOKEN)
def calls_go_on_past_the_end_of_a_proxy_token(
    service: Service, world: ServiceWorld, campaign: Campaign | None
) -> None:
    """Calls work after the stated lifetime of the Proxy token; one call may fail on the ended token.

    The gateway refuses the token a few seconds after its end. If a call fails because of that, the next call
    must not fail with the same token: the service has another token by then. What the service does when a
    token is revoked early is recorded.
    """
    _first_end(service, world, campaign)


@check("BACK-03", turn=Turn.END_OF_A_PROXY_TOKEN)
def calls_go_on_past_the_end_of_the_next_proxy_token(
    service: Service, world: ServiceWorld, campaign: Campaign | None
) -> None:
    """Calls work past the end of the next Proxy token, too, if the service renews by lifetime only."""
    gateway, state = world.gateway, world.service_state
    if not state.expiry_tested:
        _goes_by_a_fixed_time(world, campaign)
        require_served_uncached(service, world)
        if _calls_lost_by_a_revocation(service, world) is not None:
            raise LeftOut(_REPLACED)
        _first_end(service, world, campaign)
    if not state.renews_by_lifetime_only:
        raise LeftOut(_REPLACED)
    try:
        _past_the_end(service, world)
    finally:
        # A service that requests another Proxy token only at the end of its lifetime is tested again later.
        gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S


@check("BACK-03", turn=Turn.END_OF_A_PROXY_TOKEN)
def calls_go_on_in_a_session_past_the_end_of_a_proxy_token(
    service: Service, world: ServiceWorld, campaign: Campaign | None
) -> None:
    """In an MCP session that is older than the Proxy token, one call may fail on the ended token, too.

    These calls were made where the first end was tested, after calls in new sessions had worked. The server
    may have ended the session meanwhile.
    """
    if service.operation.kind != "mcp":
        raise LeftOut("the operation is no MCP tool")
    if not world.service_state.expiry_tested:
        _first_end(service, world, campaign)
    calls = world.service_state.calls_in_an_old_session
    if calls is None or not calls.redeemed:
        raise LeftOut("no MCP session redeemed before and after the end of a Proxy token")

    expect.that(
        calls.lost_again is None,
        "operation in an MCP session that is older than the Proxy token, after one that failed",
        expected="the orders: a new Proxy token, as in the new sessions before",
        got="a failure by the same ended Proxy token",
        exchange=calls.lost_again,
    )


def _first_end(service: Service, world: ServiceWorld, campaign: Campaign | None) -> None:
    """Tests the end of the service's current Proxy token, and then the revocation of its replacement."""
    gateway, state = world.gateway, world.service_state
    fixed = _goes_by_a_fixed_time(world, campaign)
    gateway.proxy_token_life_s = PROXY_TOKEN_S if fixed else FIRST_PROXY_TOKENS_S
    try:
        forced = not fixed and _gets_a_short_one(service, world)
        refused = _past_the_end(service, world, forced=forced)
        lost = None if fixed else _calls_lost_by_a_revocation(service, world)
    finally:
        gateway.proxy_token_life_s = PROXY_TOKEN_S
    state.expiry_tested = True
    state.renews_by_lifetime_only = not fixed and lost is None and not refused
    if state.renews_by_lifetime_only:
        gateway.proxy_token_life_s = FIRST_PROXY_TOKENS_S
    observe(ended_token_was_used=refused, calls_lost_by_a_revocation="all" if lost is None else lost)


def _goes_by_a_fixed_time(world: ServiceWorld, campaign: Campaign | None) -> bool:
    """True if the service keeps Proxy tokens for a fixed time; only a campaign can wait for their end."""
    fixed = world.limits.proxy_token_cache_s is not None
    if fixed and campaign is None:
        raise Unavailable(
            "time",
            "[limits] proxy_token_cache_s says that the service goes by a fixed time: it is watched past the"
            " hour with --profile campaign",
        )
    return fixed


def _gets_a_short_one(service: Service, world: ServiceWorld) -> bool:
    """Makes the service use a Proxy token with a short lifetime; True if a refusal was needed for that."""
    require_served_uncached(service, world)
    if all(token.life_s <= FIRST_PROXY_TOKENS_S for token in _held(world)):
        return False
    if world.service_state.renews_far_ahead:
        # It replaces such tokens by their lifetime, long before their end.
        return False
    if _calls_lost_by_a_revocation(service, world) is None:
        raise LeftOut(_WHOLE_HOUR)
    return True


def _past_the_end(service: Service, world: ServiceWorld, *, forced: bool = False) -> bool:
    """Expects that calls work past the end of the tokens in use; True if the gateway refused one of them.

    A service may limit how often it replaces refused tokens; if one was refused already (`forced`), a failure
    shows nothing.
    """
    gateway = world.gateway
    if forced:
        _let_others_notice(service, world)
    else:
        require_served_uncached(service, world)
    held = _held(world)
    holders = processes(world) if forced else min(len(held), processes(world))
    end = max((token.announced_expiry for token in held), default=0.0) + PROXY_TOKEN_GRACE_S + MOMENT_S
    old = session_that_redeems(service, world) if not forced else None
    if not world.service_state.renews_far_ahead:
        wait_for(Cause.EXPIRY, max(0.0, end - time.monotonic()))
    gateway.ends_proxy_tokens = True
    try:
        refused = _calls_work(service, world, max(1, holders), forced=forced)
        if old is not None:
            world.service_state.calls_in_an_old_session = called_in_an_old_session(
                world, old, max(1, holders)
            )
        return refused
    finally:
        gateway.ends_proxy_tokens = False


def _let_others_notice(service: Service, world: ServiceWorld) -> None:
    """Calls until one works: after a revocation, each other process may lose a call, too."""
    orders = world.gateway.orders_of(USER)
    for _ in range(processes(world)):
        if service.returns_orders(service.serve_once(world.unseen_token(USER)), orders):
            return


def _calls_work(service: Service, world: ServiceWorld, holders: int, *, forced: bool) -> bool:
    """Expects that each token is refused in one failed call at most; each process may fail once.

    One more call may fail, on an idle connection that was closed.
    """
    orders, refused, lost, failed = world.gateway.orders_of(USER), False, Counter[str](), 0
    for _ in range(2 * holders + 1):
        answer, shown = _called(service, world)
        refused = refused or bool(shown)
        if not service.returns_orders(answer, orders):
            failed += 1
            lost.update(shown)
        holds = max(lost.values(), default=0) < 2 and failed <= holders + 1
        if forced and not holds:
            raise LeftOut(
                "the service has just replaced a refused Proxy token, and may wait before it does so again"
            )
        expect.that(
            holds,
            f"operation more than {PROXY_TOKEN_GRACE_S:.0f} s past the expires_in of the Proxy token, after "
            "one that failed",
            expected="the orders: a new Proxy token, in the call in which the ended one is refused or in the"
            " next",
            got=f"{answer.outcome()}, {'by the same ended Proxy token' if shown else 'without redemption'}",
            exchange=answer,
        )
    return refused


def _called(service: Service, world: ServiceWorld) -> tuple[Exchange, set[str]]:
    """A call for a new user, and the Proxy tokens that were refused in it."""
    journal = world.gateway.journal
    mark = journal.mark()
    answer = repeat_while_asked_to_wait(
        lambda: service.serve_once(world.unseen_token(USER)),
        lambda _: bool(journal.since(mark, Endpoint.TOKEN, Endpoint.REDEMPTION)),
    )
    return answer, refused_proxy_tokens(world, mark)


def _held(world: ServiceWorld) -> list[ProxyToken]:
    """The tokens that the service has redeemed with; each of its processes may have its own token."""
    shown = {call.header(PROXY_TOKEN_HEADER) for call in world.gateway.journal.since(0, Endpoint.REDEMPTION)}
    return [token for token in world.gateway.proxy_tokens if token.value in shown and not token.revoked]


def _calls_lost_by_a_revocation(service: Service, world: ServiceWorld) -> int | None:
    """How many calls fail after the Proxy token was revoked; None if the service keeps using that token."""
    gateway, lost = world.gateway, 0
    gateway.revoke_proxy_tokens()
    until = time.monotonic() + MENDS_WITHIN_S
    while True:
        answer = service.serve_once(world.unseen_token(USER))
        if service.returns_orders(answer, gateway.orders_of(USER)):
            return lost
        if time.monotonic() > until:
            gateway.revive_proxy_tokens()
            return None
        lost += 1
        wait_for(Cause.RECOVERY, min(5.0, 0.1 * 2**lost))
