"""Gateways that take token requests in JSON, and do not check there what they check in a form."""

from __future__ import annotations

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.json_token_requests import not_in_json, taking_json
from gateproof.reference.gateway.policy.code_exchange import (
    AGENT_CHECKS,
    CODE_CHECKS,
    agent_secret_is_right,
    code_is_the_agents_own,
    exchange_fields_are_given,
    redirect_uri_is_the_same,
    verifier_matches,
)

DEFECTS = (
    defect(
        "json-with-any-verifier (CODE-04): In a token request in JSON, any code_verifier is taken.",
        around=taking_json,
        code_checks=instead(CODE_CHECKS, verifier_matches, not_in_json(verifier_matches)),
    ),
    defect(
        "json-with-any-redirect-uri (CODE-05): In a token request in JSON, any redirect_uri is taken.",
        around=taking_json,
        code_checks=instead(CODE_CHECKS, redirect_uri_is_the_same, not_in_json(redirect_uri_is_the_same)),
    ),
    defect(
        "json-without-a-redirect-uri (CODE-05 CODE-06): In a token request in JSON, redirect_uri may be "
        "missing or another one.",
        around=taking_json,
        exchange_fields=not_in_json(exchange_fields_are_given),
        code_checks=instead(CODE_CHECKS, redirect_uri_is_the_same, not_in_json(redirect_uri_is_the_same)),
    ),
    defect(
        "json-with-any-secret (CODE-07): In a token request in JSON, any client_secret is taken.",
        around=taking_json,
        agent_checks=instead(AGENT_CHECKS, agent_secret_is_right, not_in_json(agent_secret_is_right)),
    ),
    defect(
        "json-with-any-agents-code (CODE-08): In a token request in JSON, an agent can use another agent's "
        "code.",
        around=taking_json,
        code_checks=instead(CODE_CHECKS, code_is_the_agents_own, not_in_json(code_is_the_agents_own)),
    ),
)
