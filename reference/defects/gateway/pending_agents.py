"""Gateways that hold a Pending agent only at some Resources, or only for some time."""

from __future__ import annotations

from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.records import AuthorizationRequest, Project, Resource, Standing

DAY_S = 86_400.0


class ByResource:
    """Records which Resource an agent requested, and the first Resource of each Project."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._asked: dict[str, Resource] = {}

    def request(self, facts: AuthorizationFacts) -> AuthorizationRequest:
        request = authorization.authorization_request(facts)
        self._first.setdefault(facts.resource.project_id, facts.resource.id)
        self._asked[request.client_id] = facts.resource
        return request

    def requested_another(self, project_id: str, agent_id: str) -> bool:
        """Whether the agent requested another Resource of this Project than the first."""
        asked = self._asked.get(agent_id)
        return asked is not None and asked.project_id == project_id and asked.id != self._first[project_id]


def held_at_the_first_resource() -> dict[str, Any]:
    """Holds agents only at the first Resource of a Project."""
    known = ByResource()
    elsewhere = False

    def key(project_id: str, agent_id: str) -> tuple[str, str]:
        nonlocal elsewhere
        elsewhere = known.requested_another(project_id, agent_id)
        return project_id, f"{agent_id} elsewhere" if elsewhere else agent_id

    def standing(recorded: Standing | None, project: Project) -> Standing:
        return "approved" if elsewhere else authorization.agent_standing(recorded, project)

    return {"authorization_request": known.request, "standing_key": key, "agent_standing": standing}


def approved_at_the_first_resource() -> dict[str, Any]:
    """An approval counts only at the first Resource of the Project."""
    known = ByResource()
    elsewhere = False

    def key(project_id: str, agent_id: str) -> tuple[str, str]:
        nonlocal elsewhere
        elsewhere = known.requested_another(project_id, agent_id)
        return project_id, agent_id

    def standing(recorded: Standing | None, project: Project) -> Standing:
        held = elsewhere and project.agent_policy == "hold"
        return "pending" if held else authorization.agent_standing(recorded, project)

    return {"authorization_request": known.request, "standing_key": key, "agent_standing": standing}


def pending_agents_let_in() -> dict[str, Any]:
    """After a request of an approved agent, the Pending agents of its Project are approved."""
    opened: set[str] = set()

    def standing(recorded: Standing | None, project: Project) -> Standing:
        if recorded == "approved" and project.agent_policy == "hold":
            opened.add(project.id)
        is_released = recorded == "pending" and project.id in opened
        return "approved" if is_released else authorization.agent_standing(recorded, project)

    return {"agent_standing": standing}


def let_in_after_a_day(_asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """The Pending state expires after a day, and an agent without it counts as approved."""
    now = gateway.clock.now()
    for place, standing in gateway.store.standings.items():
        agent = gateway.store.agents.get(place[1])
        if standing == "pending" and agent is not None and now > agent.registered_at + DAY_S:
            gateway.store.standings[place] = "approved"
    return answered


DEFECTS = (
    defect(
        "held-at-the-first-resource (AUTHZ-07): A Pending agent is held at the first Resource of a Project, "
        "and approved at the others.",
        **held_at_the_first_resource(),
    ),
    defect(
        "approved-at-the-first-resource (AUTHZ-08): An approval by an operator counts only at the first "
        "Resource of a Project.",
        **approved_at_the_first_resource(),
    ),
    defect(
        "those-that-wait-are-let-in (AUTHZ-07 ROBUST-04): After a request of an approved agent, the Pending "
        "agents of its Project get codes.",
        **pending_agents_let_in(),
    ),
    defect(
        "let-in-after-a-day (AUTHZ-07): An agent that has been Pending for a day gets a code.",
        around=altering_answers(let_in_after_a_day),
    ),
    defect(
        "created-with-the-default-policy (AUTHZ-07 ROBUST-04): A Project that is created with the policy to "
        "hold agents approves them.",
        first_policy=lambda _named: "approve",
    ),
)
