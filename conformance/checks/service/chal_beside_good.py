"""Calls with a bad token, or with none, at the same moment as calls of another user with good tokens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gateproof.conformance.checks.service._altered_tokens import expired, for_another_audience
from gateproof.conformance.checks.service._failing_parties import OTHER, USER, shows_orders
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.suite.races import Races, together
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.keys import new_key, signed

# Bad and good calls alternate.
PAIRS = 6
_WHAT = "call beside good calls of another user"


@check("CHAL-01", rounds=4)
def call_without_a_token_beside_good_ones_is_refused(
    service: Service, world: ServiceWorld, races: Races
) -> None:
    """Calls without a token show no orders while another user's calls are served."""
    _refused_beside_good_calls(service, world, races, lambda: partial(service.operate_once))


@check("CHAL-04", rounds=4)
def forged_token_beside_good_ones_is_refused(service: Service, world: ServiceWorld, races: Races) -> None:
    """Calls with a token under an unknown key show no orders while another user's calls are served."""
    gateway, key = world.gateway, new_key(world.gateway.algorithm)
    _refused_beside_good_calls(
        service,
        world,
        races,
        lambda: _with(service, world, signed(gateway.claims(USER), key, kid=gateway.core_key.kid)),
    )


@check("CHAL-06", rounds=4)
def token_for_another_audience_beside_good_ones_is_refused(
    service: Service, world: ServiceWorld, races: Races
) -> None:
    """Calls with a token for another audience show no orders while another user's calls are served."""
    _refused_beside_good_calls(
        service, world, races, lambda: _with(service, world, for_another_audience(service, world))
    )


@check("CHAL-07", rounds=4)
def expired_token_beside_good_ones_is_refused(service: Service, world: ServiceWorld, races: Races) -> None:
    """Calls with an expired token show no orders while another user's calls are served."""
    _refused_beside_good_calls(service, world, races, lambda: _with(service, world, expired(world)))


def _with(service: Service, world: ServiceWorld, token: str) -> Callable[[], Exchange]:
    """A call with this token, which the gateway would redeem."""
    world.gateway.let_redeem(token, USER)
    return partial(service.serve_once, token)


def _refused_beside_good_calls(
    service: Service, world: ServiceWorld, races: Races, bad: Callable[[], Callable[[], Exchange]]
) -> None:
    """Expects no user's orders in the answers to the bad calls; any refusal will do."""
    gateway = world.gateway
    require_served(service.serve(world.unseen_token(OTHER)), gateway.orders_of(OTHER))
    for _ in races.each():
        good = [partial(service.serve_once, world.unseen_token(OTHER)) for _ in range(PAIRS)]
        answers = together([call for pair in zip(good, [bad() for _ in good], strict=True) for call in pair])
        served = sum(service.returns_orders(each, gateway.orders_of(OTHER)) for each in answers[::2])
        require.that(served > 0, "good calls at the same moment", expected="one that is served", got="none")
        for answer in answers[1::2]:
            require.that(
                answer.answer is not None, _WHAT, expected="an answer", got=answer.outcome(), exchange=answer
            )
            shown = any(shows_orders(answer, world, user) for user in (USER, OTHER))
            expect.that(
                not shown,
                _WHAT,
                expected="a refusal without orders",
                got=f"{answer.outcome()} with orders",
                exchange=answer,
            )
