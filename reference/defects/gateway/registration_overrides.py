"""Gateways in which a registration request sets values that the gateway has to choose."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization, code_exchange
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.policy.code_exchange import AGENT_CHECKS, AgentFacts
from gateproof.reference.gateway.policy.registration import (
    NewAgent,
    RegistrationFacts,
    new_agent,
    registration_answer,
)
from gateproof.reference.gateway.records import Project, Standing
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

# The agent whose approval is looked up.
_ASKED: ContextVar[str] = ContextVar("asked", default="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered(NewAgent):
    """A new agent with its registration request."""

    requested: JsonObject = field(repr=False)


def keeping_the_request(facts: RegistrationFacts, ids: Ids, now: float) -> Registered:
    new = new_agent(facts, ids, now)
    return Registered(agent=new.agent, secret=new.secret, requested=facts.metadata)


def members_of_the_request(new: NewAgent, *names: str) -> JsonObject:
    requested = new.requested if isinstance(new, Registered) else {}
    return {name: value for name, value in requested.items() if not names or name in names}


def named_if_free() -> Callable[..., NewAgent]:
    """Uses the client_id of the request unless it is in use."""
    taken: set[str] = set()

    def named(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new, name = new_agent(facts, ids, now), facts.value("client_id")
        chosen = name if isinstance(name, str) and name and name not in taken else new.agent.id
        taken.update({new.agent.id, chosen})
        return replace(new, agent=replace(new.agent, id=chosen))

    return named


def with_the_secret_named(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    new, named = new_agent(facts, ids, now), facts.value("client_secret")
    if not isinstance(named, str) or not named:
        return new
    return replace(new, secret=named, agent=replace(new.agent, secret=fingerprint(named)))


def two_secrets() -> dict[str, Any]:
    """The agent can use both the secret of its request and the issued one."""
    named: set[tuple[str, str]] = set()

    def remembering(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new, secret = new_agent(facts, ids, now), facts.value("client_secret")
        if isinstance(secret, str):
            named.add((new.agent.id, fingerprint(secret)))
        return new

    def check(facts: AgentFacts) -> Refusal | None:
        if (facts.credentials.client_id, fingerprint(facts.credentials.secret)) in named:
            return None
        return code_exchange.agent_secret_is_right(facts)

    checks = instead(AGENT_CHECKS, code_exchange.agent_secret_is_right, check)
    return {"new_agent": remembering, "agent_checks": checks}


def expiring_as_said() -> dict[str, Any]:
    """Stores the expiry of the request; the answer still says 0."""
    ends: dict[str, float] = {}

    def remembering(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new, named = new_agent(facts, ids, now), facts.value("client_secret_expires_at")
        if isinstance(named, int) and named:
            ends[new.agent.id] = named
        return new

    def check(facts: AgentFacts) -> Refusal | None:
        if facts.agent is None or facts.now < ends.get(facts.agent.id, facts.now + 1):
            return None
        return Refusal(status=401, error="invalid_client", description="the secret has expired")

    return {"new_agent": remembering, "agent_checks": (*AGENT_CHECKS, check)}


def approved_if(says_so: Callable[[RegistrationFacts], bool]) -> dict[str, Any]:
    """An agent whose registration `says_so` is approved, whatever the agent policy is."""
    approved: set[str] = set()

    def remembering(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new = new_agent(facts, ids, now)
        if says_so(facts):
            approved.add(new.agent.id)
        return new

    def key(project_id: str, agent_id: str) -> tuple[str, str]:
        _ASKED.set(agent_id)
        return authorization.standing_key(project_id, agent_id)

    def standing(recorded: Standing | None, project: Project) -> Standing:
        if _ASKED.get() in approved:
            return "approved"
        return authorization.agent_standing(recorded, project)

    return {"new_agent": remembering, "standing_key": key, "agent_standing": standing}


def granted_as_registered(read: Callable[[RegistrationFacts], list[str]]) -> dict[str, Any]:
    """Grants an agent the scopes of its registration in addition to those of the Resource."""
    own: dict[str, set[str]] = {}

    def remembering(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new = new_agent(facts, ids, now)
        own[new.agent.id] = set(read(facts))
        return new

    def check(facts: AuthorizationFacts) -> Refusal | None:
        asked, named = set(facts.scopes), own.get(facts.agent.id, set()) if facts.agent else set[str]()
        beside = replace(facts.resource, scopes=(*facts.resource.scopes, *sorted(asked & named)))
        return authorization.scopes_are_known(replace(facts, resource=beside))

    checks = instead(authorization.REDIRECT_CHECKS, authorization.scopes_are_known, check)
    return {"new_agent": remembering, "redirect_checks": checks}


def in_one_string(facts: RegistrationFacts) -> list[str]:
    named = facts.value("scope")
    return named.split() if isinstance(named, str) else []


def in_a_list(facts: RegistrationFacts) -> list[str]:
    named = facts.value("scopes")
    return [each for each in named if isinstance(each, str)] if isinstance(named, list) else []


def named_approval(facts: RegistrationFacts) -> bool:
    return facts.value("approved") is True


def named_status(facts: RegistrationFacts) -> bool:
    return facts.value("status") in ("approved", "active")


DEFECTS = (
    defect(
        "free-client-id-is-taken (REG-09): The gateway uses the client_id of the registration request if it "
        "is not in use.",
        new_agent=named_if_free(),
    ),
    defect(
        "secret-named-by-its-registration (REG-09): The gateway issues the client_secret of the registration "
        "request.",
        new_agent=with_the_secret_named,
    ),
    defect(
        "named-secret-does-too (REG-09): The gateway accepts the client_secret of the registration request "
        "in addition to the issued one.",
        **two_secrets(),
    ),
    defect(
        "registration-is-repeated-over-the-answer (REG-09): The registration response has the values of the "
        "request in place of those that the gateway chose.",
        new_agent=keeping_the_request,
        registration_answer=lambda new: registration_answer(new) | members_of_the_request(new),
    ),
    defect(
        "expiry-named-by-its-registration (REG-09): The registration response repeats the "
        "client_secret_expires_at of the request.",
        new_agent=keeping_the_request,
        registration_answer=lambda new: (
            registration_answer(new) | members_of_the_request(new, "client_secret_expires_at")
        ),
    ),
    defect(
        "named-expiry-is-kept (REG-09): A secret expires at the client_secret_expires_at of the request, "
        "while the response says 0.",
        **expiring_as_said(),
    ),
    defect(
        "agent-approves-itself (REG-09): An agent that registers with `approved` set to true is approved in "
        "every Project.",
        **approved_if(named_approval),
    ),
    defect(
        "agent-names-its-status (REG-09): An agent that registers with the status approved or active is "
        "approved in every Project.",
        **approved_if(named_status),
    ),
    defect(
        "granted-as-registered (AUTHZ-18): A scope in an agent's registration is granted at every Resource.",
        **granted_as_registered(in_one_string),
    ),
    defect(
        "granted-as-registered-in-a-list (AUTHZ-18): A scope in a list `scopes` of an agent's registration "
        "is granted at every Resource.",
        **granted_as_registered(in_a_list),
    ),
)
