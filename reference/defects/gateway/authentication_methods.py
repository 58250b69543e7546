"""Gateways that require no secret from an agent because of the authentication method that it registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy.code_exchange import (
    AGENT_CHECKS,
    AgentCredentials,
    AgentFacts,
    TokenRequestFacts,
)
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    NewAgent,
    RegistrationFacts,
    auth_method_is_supported,
    new_agent,
)
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import Refusal

WITH_A_KEY = frozenset({"private_key_jwt", "tls_client_auth", "self_signed_tls_client_auth"})
_ANY_METHOD = without(REGISTRATION_CHECKS, auth_method_is_supported)


def with_or_without_a_secret(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    if not facts.value("client_id"):
        return honest.agent_credentials(facts)
    return AgentCredentials(client_id=facts.value("client_id"), secret=facts.value("client_secret"))


def public(is_public: Callable[[AgentFacts], bool]) -> dict[str, Any]:
    """Requires no secret from an agent for which `is_public` is true."""

    def check(facts: AgentFacts) -> Refusal | None:
        open_to_all = facts.agent is not None and is_public(facts)
        return None if open_to_all else honest.agent_secret_is_right(facts)

    return {
        "registration_checks": _ANY_METHOD,
        "agent_credentials": with_or_without_a_secret,
        "agent_checks": instead(AGENT_CHECKS, honest.agent_secret_is_right, check),
    }


def none_unless_named(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    new = new_agent(facts, ids, now)
    named = facts.value("token_endpoint_auth_method")
    return new if named else replace(new, agent=replace(new.agent, auth_method="none"))


def refreshed_by_the_registered_method(methods: frozenset[str]) -> dict[str, Any]:
    """A refresh of an agent that registered one of these methods needs no secret."""
    grant: list[str] = []

    def credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
        grant[:] = [facts.value("grant_type")]
        found = honest.agent_credentials(facts)
        client_id = facts.value("client_id")
        if isinstance(found, Refusal) and grant == ["refresh_token"] and client_id:
            return AgentCredentials(client_id=client_id, secret="")
        return found

    def secret_is_right(facts: AgentFacts) -> Refusal | None:
        if grant == ["refresh_token"] and facts.agent is not None and facts.agent.auth_method in methods:
            return None
        return honest.agent_secret_is_right(facts)

    checks = instead(AGENT_CHECKS, honest.agent_secret_is_right, secret_is_right)
    return {"registration_checks": _ANY_METHOD, "agent_credentials": credentials, "agent_checks": checks}


DEFECTS = (
    defect(
        "refresh-by-the-registered-method (CODE-16): A refresh of an agent that registered the method `none` "
        "needs no secret.",
        **refreshed_by_the_registered_method(frozenset({"none"})),
    ),
    defect(
        "refresh-by-a-key-that-nobody-asks-for (CODE-16): A refresh of an agent that registered a method "
        "with a key or a certificate needs neither these nor a secret.",
        **refreshed_by_the_registered_method(WITH_A_KEY),
    ),
    defect(
        "public-agents-accepted (REG-15): An agent that registers the method `none` needs no secret.",
        **public(lambda facts: facts.agent is not None and facts.agent.auth_method == "none"),
    ),
    defect(
        "secret-asked-for-known-methods-only (REG-15): Only an agent that registers client_secret_post "
        "needs its secret.",
        **public(lambda facts: facts.agent is not None and facts.agent.auth_method != "client_secret_post"),
    ),
    defect(
        "public-unless-a-method-is-named (REG-15): An agent that registers without "
        "token_endpoint_auth_method needs no secret.",
        **public(lambda facts: facts.agent is not None and facts.agent.auth_method == "none"),
        new_agent=none_unless_named,
    ),
    defect(
        "keys-of-agents-left-to-others (REG-15): An agent that registers a method with a key or a "
        "certificate authenticates without these and without a secret.",
        **public(lambda facts: facts.agent is not None and facts.agent.auth_method in WITH_A_KEY),
    ),
    defect(
        "public-agents-name-themselves (REG-15): The gateway accepts the client_id as the secret of an agent "
        "that registers the method `none`.",
        **public(
            lambda facts: (
                facts.agent is not None
                and facts.agent.auth_method == "none"
                and facts.credentials.secret == facts.agent.id
            )
        ),
    ),
)
