"""Gateways that parse brackets in names of form fields as nested values and compare these unchecked."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.code_bindings import fields_except, verifier_accepted_if
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import (
    AGENT_CHECKS,
    AgentCredentials,
    AgentFacts,
    RequestCheck,
    TokenRequestFacts,
)
from gateproof.reference.outcomes import Refusal

# Suffixes that a form parser turns into an operator of a document store, or into a list.
OPERATORS, LIST = ("[$ne]", "[$gt]"), ("[]",)
# A marker that no real secret can be equal to.
_NESTED = "\0nested"


def nested(facts: TokenRequestFacts, name: str, keys: tuple[str, ...]) -> bool:
    return any(field == name + key for field, _ in facts.form for key in keys)


def secret_under(keys: tuple[str, ...]) -> dict[str, Any]:
    """A client secret that is not a string matches every secret."""

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        if facts.authorization is None and nested(facts, "client_secret", keys):
            return AgentCredentials(client_id=facts.value("client_id"), secret=_NESTED)
        return honest.agent_credentials(facts)

    def check(facts: AgentFacts) -> Refusal | None:
        return None if facts.credentials.secret == _NESTED else honest.agent_secret_is_right(facts)

    return {
        "agent_credentials": credentials,
        "agent_checks": instead(AGENT_CHECKS, honest.agent_secret_is_right, check),
    }


def verifier_under(keys: tuple[str, ...]) -> dict[str, Any]:
    """A verifier that is not a string matches every challenge."""
    unnested: RequestCheck = fields_except("code_verifier")

    def check(facts: TokenRequestFacts) -> Refusal | None:
        found = nested(facts, "code_verifier", keys)
        return unnested(facts) if found else honest.exchange_fields_are_given(facts)

    return {"exchange_fields": check, **verifier_accepted_if(lambda verifier, _challenge: verifier == "")}


DEFECTS = (
    defect(
        "secret-as-an-operator (CODE-07): The gateway parses client_secret[$ne] as an operator of a "
        "document store, which matches every client secret.",
        **secret_under(OPERATORS),
    ),
    defect(
        "secret-as-a-list (CODE-07): The gateway parses client_secret[] as a list, which its comparison "
        "treats as equal to every client secret.",
        **secret_under(LIST),
    ),
    defect(
        "verifier-as-an-operator (CODE-06): The gateway parses code_verifier[$ne] as an operator of a "
        "document store, which matches every challenge.",
        **verifier_under(OPERATORS),
    ),
    defect(
        "verifier-as-a-list (CODE-06): The gateway parses code_verifier[] as a list, which its comparison "
        "treats as equal to every verifier.",
        **verifier_under(LIST),
    ),
)
