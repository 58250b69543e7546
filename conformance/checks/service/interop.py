"""The cost of requests with invalid tokens: recorded, because the specification leaves it open."""

from __future__ import annotations

import secrets

from gateproof.conformance.checks.service._failing_parties import USER, require_recovered, require_works
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import observe, require
from gateproof.fakes.gateway.keys import new_key, signed
from gateproof.fakes.gateway.script import Endpoint

CROWD, AT_ONCE = 40, 8


# A service may look for keys less often after this, so it comes last.
@check("INTEROP-03", alone=True)
def crowd_of_unknown_keys_costs_requests(service: Service, world: ServiceWorld) -> None:
    """Records how many requests for the key set a service makes for many tokens with unknown key IDs."""
    gateway = world.gateway
    require_works(service, world)
    stranger = new_key(gateway.algorithm)
    tokens = [signed(gateway.claims(USER), stranger, kid=secrets.token_hex(8)) for _ in range(CROWD)]
    mark = gateway.journal.mark()
    answers = service.serve_all_once(tokens, at_once=AT_ONCE)
    calls = gateway.journal.since(mark)
    refused = sum(answer.status == 401 for answer in answers)
    require.that(refused > 0, "a token under an unknown key", expected="status 401", got="none")

    observe(
        tokens=CROWD,
        refused=refused,
        key_set_requests=sum(call.endpoint is Endpoint.CORE_KEYS for call in calls),
        discovery_requests=sum(call.endpoint is Endpoint.DISCOVERY for call in calls),
    )
    require_recovered(service, world)
