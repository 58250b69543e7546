"""What strangers cost a service: recorded, never judged."""

from __future__ import annotations

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import observe
from gateproof.fakes.gateway.keys import new_key
from gateproof.fakes.gateway.script import Endpoint

STRANGERS = 20


@check("INTEROP-03")
def key_set_requests_for_unknown_keys(service: Service, world: ServiceWorld) -> None:
    """Records how many key set requests come of tokens whose `kid` nobody knows."""
    gateway = world.gateway
    good_token(service, world)
    mark = gateway.journal.mark()
    answers = [service.serve_once(gateway.token_under(new_key("ES256"), USER)) for _ in range(STRANGERS)]
    requests = len(gateway.journal.since(mark, Endpoint.CORE_KEYS))

    observe(
        tokens_with_unknown_keys=STRANGERS,
        key_set_requests=requests,
        statuses=", ".join(sorted({str(answer.status) for answer in answers})),
    )
