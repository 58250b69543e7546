"""Gateways that read nested values out of a form's names, and compare with whatever they get."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.code_bindings import fields_but, verifier_by
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

# What a query of a document store does with a value, and what a list is to a parser of forms.
OPERATORS, LIST = ("[$ne]", "[$gt]"), ("[]",)
# No secret holds what no form can.
_NESTED = "\0nested"


def nested(facts: TokenRequestFacts, name: str, keys: tuple[str, ...]) -> bool:
    return any(field == name + key for field, _ in facts.form for key in keys)


def secret_under(keys: tuple[str, ...]) -> dict[str, Any]:
    """A secret that is no string matches every secret."""

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
    """A verifier that is no string matches every challenge."""
    unnested: RequestCheck = fields_but("code_verifier")

    def check(facts: TokenRequestFacts) -> Refusal | None:
        found = nested(facts, "code_verifier", keys)
        return unnested(facts) if found else honest.exchange_fields_are_given(facts)

    return {"exchange_fields": check, **verifier_by(lambda verifier, _challenge: verifier == "")}


DEFECTS = (
    defect(
        "secret-as-an-operator (CODE-07): A client secret that asks for any other one, as document stores "
        "can be asked, is right.",
        **secret_under(OPERATORS),
    ),
    defect(
        "secret-as-a-list (CODE-07): A client secret that is a list compares as equal to every secret.",
        **secret_under(LIST),
    ),
    defect(
        "verifier-as-an-operator (CODE-06): A code verifier that asks for any other one is right.",
        **verifier_under(OPERATORS),
    ),
    defect(
        "verifier-as-a-list (CODE-06): A code verifier that is a list compares as equal to every one.",
        **verifier_under(LIST),
    ),
)
