"""Gateways that approve an agent in a Project because it was approved in another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.records import Project, Standing


def approved_by_another_project(counts: Callable[[Standing | None, Project], bool]) -> dict[str, Any]:
    """An agent that is new to a Project is approved if an approval in another Project `counts`."""
    asked: list[str] = []
    trusted: set[str] = set()

    def standing_key(project_id: str, agent_id: str) -> tuple[str, str]:
        asked[:] = [agent_id]
        return authorization.standing_key(project_id, agent_id)

    def standing(recorded: Standing | None, project: Project) -> Standing:
        agent_id = asked[0]
        if recorded is None and agent_id in trusted:
            return "approved"
        honest = authorization.agent_standing(recorded, project)
        if honest == "approved" and counts(recorded, project):
            trusted.add(agent_id)
        return honest

    return {"standing_key": standing_key, "agent_standing": standing}


DEFECTS = (
    defect(
        "operators-approval-counts-where-the-agent-is-new (AUTHZ-30 ROBUST-04): An agent that an operator "
        "approved in one Project is approved in every Project where it is new.",
        **approved_by_another_project(
            lambda recorded, project: recorded == "approved" and project.agent_policy == "hold"
        ),
    ),
    defect(
        "policys-approval-counts-where-the-agent-is-new (AUTHZ-30 ROBUST-04): An agent that the agent policy "
        "of one Project approved is approved in every Project where it is new.",
        **approved_by_another_project(
            lambda recorded, project: recorded is None and project.agent_policy == "approve"
        ),
    ),
)
