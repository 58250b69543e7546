"""Gateways in which a registration decides what is the gateway's to decide."""

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

# The agent whose standing is looked up.
_ASKED: ContextVar[str] = ContextVar("asked", default="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered(NewAgent):
    """A new agent, with what the registration said."""

    said: JsonObject = field(repr=False)


def keeping_what_was_said(facts: RegistrationFacts, ids: Ids, now: float) -> Registered:
    new = new_agent(facts, ids, now)
    return Registered(agent=new.agent, secret=new.secret, said=facts.metadata)


def said_by(new: NewAgent, *names: str) -> JsonObject:
    said = new.said if isinstance(new, Registered) else {}
    return {name: value for name, value in said.items() if not names or name in names}


def named_if_free() -> Callable[..., NewAgent]:
    """A client_id that is named is taken, unless somebody has it."""
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
    """The secret that a registration names does beside the one that it gets."""
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
    """The expiry that a registration names is kept, and the answer says 0 all the same."""
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
    """An agent that calls itself approved is, whatever the policy of the Project."""
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
    """The scopes that an agent names when it registers are its own, whatever the Resource has."""
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
        "free-client-id-is-taken (REG-09): A registration may name its client_id, if nobody has it.",
        new_agent=named_if_free(),
    ),
    defect(
        "secret-named-by-its-registration (REG-09): A registration that names a client_secret gets it.",
        new_agent=with_the_secret_named,
    ),
    defect(
        "named-secret-does-too (REG-09): The client_secret that a registration names works beside the one "
        "that it gets.",
        **two_secrets(),
    ),
    defect(
        "registration-is-repeated-over-the-answer (REG-09): What a registration says stands in the answer "
        "in place of what was decided.",
        new_agent=keeping_what_was_said,
        registration_answer=lambda new: registration_answer(new) | said_by(new),
    ),
    defect(
        "expiry-named-by-its-registration (REG-09): The answer repeats the client_secret_expires_at that a "
        "registration names.",
        new_agent=keeping_what_was_said,
        registration_answer=lambda new: registration_answer(new) | said_by(new, "client_secret_expires_at"),
    ),
    defect(
        "named-expiry-is-kept (REG-09): A secret expires when its registration said, and the answer says 0.",
        **expiring_as_said(),
    ),
    defect(
        "agent-approves-itself (REG-09): An agent that registers as approved is so in every Project.",
        **approved_if(named_approval),
    ),
    defect(
        "agent-names-its-status (REG-09): An agent that registers with an approved or active status is "
        "approved in every Project.",
        **approved_if(named_status),
    ),
    defect(
        "granted-as-registered (AUTHZ-18): A scope that an agent names when it registers is granted at every "
        "Resource.",
        **granted_as_registered(in_one_string),
    ),
    defect(
        "granted-as-registered-in-a-list (AUTHZ-18): The same for a list of scopes.",
        **granted_as_registered(in_a_list),
    ),
)
