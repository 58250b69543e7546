"""Projects: the list, the form for a new one, and the page of one."""

from __future__ import annotations

import secrets

from starlette.responses import Response

from gateproof.reference.gateway import actions
from gateproof.reference.gateway.arguments import Arguments, WrongArgument
from gateproof.reference.gateway.console.visit import Visit
from gateproof.reference.gateway.records import Project
from gateproof.reference.site.layout import (
    button,
    choices,
    code,
    complaint,
    field,
    form,
    section,
    table,
    values,
)
from gateproof.reference.site.markup import Child, Html, foreign, tag

POLICIES = (
    ("approve", "Approve every agent", "An agent that registers can be used at once."),
    ("hold", "Hold new agents", "An agent is Pending until somebody approves it here."),
)
TABS = (("", "Resources"), ("/proxy-clients", "Proxy clients"), ("/agents", "Agents"), ("/events", "Events"))
TRAIL = (("Projects", "/projects"),)


async def listed(visit: Visit) -> Response:
    store = visit.gateway.store
    rows = [
        (
            tag("a", foreign(project.name), href=place_of(project)),
            code(project.id),
            policy_mark(project),
            str(len(store.resources_of(project.id))),
            _pending(visit, project),
        )
        for project in store.projects.values()
    ]
    head = ("Project", "Project ID", "Agent policy", "Resources", "Pending agents")
    content = table("All Projects", head, rows) if rows else tag("p", "There is no Project yet.")
    new = tag("p", tag("a", "New Project", href="/projects/new", class_="button"))
    return visit.page("Projects", tag("div", content, class_="card"), new)


async def asked(visit: Visit) -> Response:
    return _form(visit, None, "")


async def create(visit: Visit) -> Response:
    name = visit.form.get("name", "").strip()
    members = {"name": name, "agent_policy": visit.form.get("agent_policy")}
    try:
        made = actions.create_project(visit.gateway, Arguments(members))
    except WrongArgument as wrong:
        return _form(visit, str(wrong), name)
    return visit.done(f"/projects/{made['project_id']}", "The Project was created.")


async def opened(visit: Visit) -> Response:
    """The page of a Project: Resources and agent policy."""
    project = visit.project()
    rows = [
        (
            tag("a", code(resource.id), href=f"{place_of(project)}/resources/{resource.id}"),
            code(resource.indicator),
            ", ".join(resource.scopes),
        )
        for resource in visit.gateway.store.resources_of(project.id)
    ]
    found = table("Token exchange Resources", ("Resource ID", "Resource indicator", "Scopes"), rows)
    new = tag("a", "New Resource", href=f"{place_of(project)}/resources/new", class_="button")
    policy = form(
        f"{place_of(project)}/agent-policy",
        visit.token,
        choices("What happens to new agents", "agent_policy", POLICIES, project.agent_policy),
        button("Save the agent policy", class_="plain"),
    )
    return project_page(
        visit,
        project,
        "",
        section("Resources", found if rows else tag("p", "There is no Resource yet."), tag("p", new)),
        section(
            "Agent policy",
            tag(
                "p",
                "It is applied when an agent's first user signs in; what was decided stays.",
                class_="hint",
            ),
            policy,
        ),
        section("Reference values", values([("Project ID", code(project.id))])),
    )


async def set_policy(visit: Visit) -> Response:
    project = visit.project()
    members = {"project_id": project.id, "agent_policy": visit.form.get("agent_policy", "")}
    try:
        actions.set_agent_policy(visit.gateway, Arguments(members))
    except WrongArgument as wrong:
        return visit.done(place_of(project), f"Nothing was changed. {wrong}")
    return visit.done(place_of(project), "The agent policy was saved.")


def project_page(visit: Visit, project: Project, at: str, *main: Child) -> Response:
    """A page of a Project, with tabs for its other pages."""
    pending = _pending(visit, project)
    tabs = [
        tag(
            "li",
            tag(
                "a",
                name,
                tag("span", f" ({pending} Pending)") if name == "Agents" and pending != "0" else None,
                href=place_of(project) + path,
                aria_current="page" if path == at else None,
            ),
        )
        for path, name in TABS
    ]
    nav = tag("nav", tag("ul", tabs), class_="tabs", aria_label="Project")
    return visit.page(project.name, nav, *main, trail=TRAIL)


def place_of(project: Project) -> str:
    return f"/projects/{project.id}"


def trail_of(project: Project) -> tuple[tuple[str, str], ...]:
    return (*TRAIL, (project.name, place_of(project)))


def policy_mark(project: Project) -> Html:
    held = project.agent_policy == "hold"
    return tag("span", "hold" if held else "approve", class_="mark wait" if held else "mark good")


def ticket() -> Html:
    """A hidden field for a form that must not be processed twice."""
    return tag("input", type="hidden", name="ticket", value=secrets.token_urlsafe(12))


def _pending(visit: Visit, project: Project) -> str:
    standings = visit.gateway.store.standings.items()
    return str(sum(place[0] == project.id and standing == "pending" for place, standing in standings))


def _form(visit: Visit, wrong: str | None, name: str) -> Response:
    content = form(
        "/projects",
        visit.token,
        field("Name", "name", required=True, maxlength="200", value=name, autocomplete="off"),
        choices("Agent policy", "agent_policy", POLICIES, visit.form.get("agent_policy", "approve")),
        button("Create the Project"),
        class_="card",
    )
    return visit.page("New Project", complaint(wrong), content, trail=TRAIL, status=400 if wrong else 200)
