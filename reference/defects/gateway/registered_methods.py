"""Gateways that let an agent use HTTP Basic because of how it registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.defect import without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange as honest
from gateproof.reference.gateway.policy import proxy
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

_BASIC = "client_secret_basic"


class _ByBasic(AgentCredentials):
    """Credentials from an Authorization header."""

    __slots__ = ()


def from_either(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    """The credentials in the header if there is one, otherwise those in the form."""
    if facts.authorization is None:
        return honest.agent_credentials(facts)
    pair = proxy.proxy_credentials(facts)
    return pair if isinstance(pair, Refusal) else _ByBasic(client_id=pair.client_id, secret=pair.secret)


def registered_for_it(facts: AgentFacts) -> Refusal | None:
    by_basic, agent = isinstance(facts.credentials, _ByBasic), facts.agent
    if not by_basic or (agent is not None and agent.auth_method == _BASIC):
        return None
    return Refusal(status=401, error="invalid_client", description="registered for another method")


def basic_for(wants: Callable[[Any], bool]) -> dict[str, Any]:
    """An agent may use Basic if `wants` is true for the method in its registration."""

    def registered(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new = new_agent(facts, ids, now)
        if not wants(facts.value("token_endpoint_auth_method")):
            return new
        return replace(new, agent=replace(new.agent, auth_method=_BASIC))

    return {
        "registration_checks": without(REGISTRATION_CHECKS, auth_method_is_supported),
        "new_agent": registered,
        "agent_credentials": from_either,
        "agent_checks": (*AGENT_CHECKS, registered_for_it),
    }


DEFECTS = (
    defect(
        "basic-unless-a-method-is-named (CODE-09): An agent that registers without "
        "token_endpoint_auth_method, or with null, may use HTTP Basic, the default of RFC 7591.",
        **basic_for(lambda named: not named),
    ),
    defect(
        "basic-for-unknown-methods (CODE-09): An agent that registers an unknown method may use HTTP Basic.",
        **basic_for(lambda named: str(named).endswith("unknown")),
    ),
    defect(
        "basic-in-any-case-of-letters (CODE-09): An agent that registers CLIENT_SECRET_BASIC may use HTTP "
        "Basic.",
        **basic_for(lambda named: str(named) == _BASIC.upper()),
    ),
)
