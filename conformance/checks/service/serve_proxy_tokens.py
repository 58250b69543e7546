"""Proxy token responses in other forms that the standard allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.conformance.checks.service._failing_parties import failing_token_endpoint, require_works
from gateproof.conformance.kit.service.recovery import call_until_recovered
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.fakes.gateway.proxy_tokens import PROXY_TOKEN_S
from gateproof.fakes.gateway.script import Answer, Endpoint

# The call with the refused Proxy token may fail. The next ones use the new token.
_WITHIN_S = 10.0
# RFC 6749 section 5.1: the type in any case, a scope, and members that a client ignores if it does not know
# them.
WORDS: Mapping[str, Mapping[str, Any]] = {
    "type-in-lower-case": {"token_type": "bearer"},
    "scope": {"scope": "credentials"},
    "unknown-member": {"ext_expires_in": PROXY_TOKEN_S},
    "unknown-member-with-members": {"x": {"y": [1]}},
}


@check("SERVE-01", cases=WORDS)
def proxy_token_in_other_words_is_used(
    service: Service, world: ServiceWorld, case: Mapping[str, Any]
) -> None:
    """A Proxy token is used if the token response has another standard form or an unknown member."""
    if world.service_state.renews_by_lifetime_only:
        raise LeftOut("the service requests no other Proxy token before the old one expires")
    gateway, said = world.gateway, Answer(members=case)
    require_works(service, world)
    answer, _ = failing_token_endpoint(service, world, said)
    if not service.returns_orders(answer, gateway.orders_of(USERS[0])):
        gateway.script.always(Endpoint.TOKEN, said)
        answer = call_until_recovered(service, world, _WITHIN_S)

    expect.that(
        service.returns_orders(answer, gateway.orders_of(USERS[0])),
        f"operation after a Proxy token response with {', '.join(case)}",
        expected="success with the orders",
        got=answer.outcome(),
        exchange=answer,
    )
