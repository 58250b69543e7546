"""The registration endpoint."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.registration import RegistrationFacts
from gateproof.reference.outcomes import first_refusal
from gateproof.reference.web import Endpoint, json_answer, json_of, refusal_answer


def register(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        policies = gateway.policies
        facts = RegistrationFacts(
            authorization=request.headers.get("authorization"), metadata=await json_of(request)
        )
        if refusal := first_refusal(policies.registration_checks, facts):
            return refusal_answer(refusal, policies.token_headers)
        new = policies.new_agent(facts, gateway.ids, gateway.clock.now())
        gateway.store.agents[new.agent.id] = new.agent
        answer = policies.registration_answer(new)
        return json_answer(answer, policies.registration_status, policies.token_headers)

    return endpoint
