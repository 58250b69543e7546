"""The agents of a Project, Pending ones first."""

from __future__ import annotations

from starlette.responses import Response

from gateproof.reference.gateway import actions
from gateproof.reference.gateway.arguments import Arguments, WrongArgument
from gateproof.reference.gateway.console.projects import place_of, project_page
from gateproof.reference.gateway.console.visit import Visit
from gateproof.reference.gateway.policy.redemption import rfc3339
from gateproof.reference.gateway.policy.registration import domain_of
from gateproof.reference.gateway.records import Agent, Project, Standing
from gateproof.reference.site.layout import button, code, form, section, table
from gateproof.reference.site.markup import Child, foreign, tag

HEAD = ("Agent", "Domain", "Client ID", "Registered", "Standing", "Action")


async def listed(visit: Visit) -> Response:
    project, store = visit.project(), visit.gateway.store
    met = [
        (store.agents[agent_id], standing)
        for (project_id, agent_id), standing in store.standings.items()
        if project_id == project.id and agent_id in store.agents
    ]
    met.sort(key=lambda each: each[1] != "pending")
    rows = [_row(visit, project, agent, standing) for agent, standing in met]
    return project_page(
        visit,
        project,
        "/agents",
        section(
            "Agents",
            tag(
                "p",
                "An agent appears here when a user signs in for it. An agent that is Pending gets no code. "
                "After the approval, the user starts again from the agent.",
                class_="hint",
            ),
            table("Agents of this Project, Pending first", HEAD, rows)
            if rows
            else tag("p", "No user has signed in for any agent yet."),
        ),
    )


async def approve(visit: Visit) -> Response:
    project = visit.project()
    members = {"project_id": project.id, "client_id": visit.request.path_params["client_id"]}
    try:
        actions.approve_agent(visit.gateway, Arguments(members))
    except WrongArgument as wrong:
        return visit.done(f"{place_of(project)}/agents", f"Nothing was changed. {wrong}")
    return visit.done(f"{place_of(project)}/agents", "The agent was approved.")


def _row(visit: Visit, project: Project, agent: Agent, standing: Standing) -> tuple[Child, ...]:
    pending = standing == "pending"
    to = f"{place_of(project)}/agents/{agent.id}/approve"
    action: Child = form(to, visit.token, button("Approve", about=agent.name)) if pending else "none"
    mark = tag("span", "Pending" if pending else "approved", class_="mark wait" if pending else "mark good")
    return (
        foreign(agent.name),
        foreign(domain_of(agent.redirect_uris)),
        code(agent.id),
        tag("time", rfc3339(agent.registered_at), datetime=rfc3339(agent.registered_at)),
        mark,
        action,
    )
