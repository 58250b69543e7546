"""The expiry of merchant tokens, also when the next redemption fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gateproof.conformance.checks.service._expiring import TIMESTAMPS
from gateproof.conformance.checks.service._failing_parties import USER, called_since, require_works
from gateproof.conformance.checks.service._short_merchant_tokens import end_of_a_short_token
from gateproof.conformance.kit.service.mcp_session import session_of
from gateproof.conformance.kit.service.retry_after import repeat_while_asked_to_wait
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import OK, Answer, Endpoint

# The lifetime of a merchant token that expires during the check.
LIFE_S = 2.0
LONG_LIFE_S = 1800.0
# The answer to the redemption after the old token has expired.
NO_OTHER = {
    "410": Answer(status=410, members={"error": "reauthentication_required"}),
    "500": Answer(status=500),
}
# Calls the operation with a token.
Ask = Callable[[str], Exchange]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """A call that was served with merchant tokens of a short lifetime, and how to repeat it."""

    again: Callable[[], Exchange]
    old: frozenset[str] = field(repr=False)
    expires_at: float
    redemption: Answer = OK


@check("BACK-11")
def merchant_token_is_not_used_past_its_expiry(service: Service, world: ServiceWorld) -> None:
    """After `expires_at` of the redemption, the service no longer sends that merchant token.

    Timestamps with another time zone or with fractions of a second are tried as well. The same holds within a
    session, if the next redemption fails, and for a token that was redeemed because the merchant refused an
    earlier one with a longer lifetime.
    """
    gateway, utc = world.gateway, TIMESTAMPS["utc"]
    require_works(service, world)
    kept = {form: _kept(service, world, said, service.serve) for form, said in TIMESTAMPS.items()}
    if service.operation.kind == "mcp":
        kept["in a session that goes on"] = _kept(service, world, utc, _in_one_session(service))
    for name, failure in NO_OTHER.items():
        # If a token cannot be renewed, the call is answered at once and not after a wait.
        kept[f"while redemption answers {name}"] = _kept(
            service, world, utc, service.serve, service.serve_once, failure
        )
    if (second := _second_of_a_user(world, service)) is not None:
        kept["of the second token, which replaced a refused one"] = second
    # Clock tolerance: one more second, because some services truncate timestamps to whole seconds.
    wait_for(Cause.EXPIRY, max(0.0, max(each.expires_at for each in kept.values()) + 1 - time.time()))
    for name, each in kept.items():
        mark = gateway.journal.mark()
        gateway.script.always(Endpoint.REDEMPTION, each.redemption)
        repeat_while_asked_to_wait(
            each.again, called_since(world, mark, Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
        )
        gateway.script.clear()
        calls = gateway.journal.since(mark, Endpoint.MERCHANT_API)
        shown = [call.header("authorization") or "" for call in calls]

        expect.that(
            not any(value.endswith(token) for value in shown for token in each.old),
            f"call of the merchant API past expires_at, {name}",
            expected="another merchant token, or no call",
            got="the one that has expired",
        )


def _kept(
    service: Service,
    world: ServiceWorld,
    said: Callable[[float], str],
    ask: Ask,
    again: Ask | None = None,
    redemption: Answer = OK,
) -> Kept:
    """A call of a new user, for whom each redemption returns a token that is valid for a few seconds."""
    gateway = world.gateway
    token, before = world.unseen_token(USER), set(gateway.merchant_tokens)
    expires_at = end_of_a_short_token(service, world, lambda: ask(token), life_s=LIFE_S, said=said)
    old = frozenset(gateway.merchant_tokens) - before
    require.that(bool(old), "operation of a user who is new", expected="a redemption", got="none")
    return Kept(again=lambda: (again or ask)(token), old=old, expires_at=expires_at, redemption=redemption)


def _second_of_a_user(world: ServiceWorld, service: Service) -> Kept | None:
    """A call after the merchant refused a token of half an hour; None if the service redeems no other one."""
    gateway, token, begun = world.gateway, world.unseen_token(USER), time.time()
    gateway.script.always(Endpoint.REDEMPTION, _valid_until(begun + LONG_LIFE_S))
    require_served(service.serve(token), gateway.orders_of(USER))
    before, expires_at = set(gateway.merchant_tokens), time.time() + LIFE_S
    gateway.script.tape(Endpoint.MERCHANT_API, [Answer(status=401)])
    gateway.script.always(Endpoint.REDEMPTION, _valid_until(expires_at))
    service.serve_once(token)
    service.serve_once(token)
    gateway.script.clear()
    old = frozenset(gateway.merchant_tokens) - before
    return Kept(again=lambda: service.serve(token), old=old, expires_at=expires_at) if old else None


def _valid_until(at: float) -> Answer:
    return Answer(members={"expires_at": TIMESTAMPS["utc"](at)})


def _in_one_session(service: Service) -> Ask:
    """The operation, always in the session that the first call starts."""
    begun: list[Callable[[str], Exchange]] = []

    def ask(token: str) -> Exchange:
        if not begun:
            begun.append(session_of(service, token).call)
        return begun[0](token)

    return ask
