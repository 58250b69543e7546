"""Merchant and Proxy tokens in other forms of a bearer token (RFC 6750 section 2.1)."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._failing_parties import (
    USER,
    failing_token_endpoint,
    require_works,
)
from gateproof.conformance.kit.service.recovery import call_until_recovered
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.gateway import MERCHANT_TOKEN_S
from gateproof.fakes.gateway.proxy_tokens import FORMS, Written, as_it_is
from gateproof.fakes.gateway.script import OK, Answer, Endpoint

# The call with the refused Proxy token may fail. The next ones use the new token.
_WITHIN_S = 10.0


@check("SERVE-01", cases=FORMS)
def merchant_token_of_any_form_is_used(service: Service, world: ServiceWorld, case: Written) -> None:
    """A merchant token with unusual characters, or of 1,300 characters, brings the orders each time.

    The second call uses what the service has cached.
    """
    gateway, token = world.gateway, world.unseen_token(USER)
    require_works(service, world)
    merchant_token = case(gateway.merchant_token(USER))
    gateway.merchant_tokens[merchant_token] = USER
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + MERCHANT_TOKEN_S))
    said = Answer(members={"access_token": merchant_token, "expires_at": until})
    gateway.script.always(Endpoint.REDEMPTION, said)
    answers = [service.serve(token) for _ in range(2)]
    gateway.script.clear()

    for answer in answers:
        _brings_orders(service, world, answer, "with a merchant token in another form")


@check("SERVE-01", cases=FORMS)
def proxy_token_of_any_form_is_used(service: Service, world: ServiceWorld, case: Written) -> None:
    """A Proxy token with unusual characters, or of 1,300 characters, redeems."""
    if world.service_state.renews_by_lifetime_only:
        raise LeftOut("the service requests no other Proxy token before the old one expires")
    gateway = world.gateway
    require_works(service, world)
    gateway.proxy_tokens_written = case
    try:
        answer, _ = failing_token_endpoint(service, world, OK)
        if not service.returns_orders(answer, gateway.orders_of(USER)):
            answer = call_until_recovered(service, world, _WITHIN_S)
    finally:
        gateway.proxy_tokens_written = as_it_is

    _brings_orders(service, world, answer, "with a Proxy token in another form")


def _brings_orders(service: Service, world: ServiceWorld, answer: Exchange, with_what: str) -> None:
    expect.that(
        service.returns_orders(answer, world.gateway.orders_of(USER)),
        f"{answer.step} {with_what}",
        expected="success with the orders",
        got=answer.outcome(),
        exchange=answer,
    )
