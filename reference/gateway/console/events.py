"""The provisioning events, which show why a redemption finds no merchant token."""

from __future__ import annotations

from starlette.responses import Response

from gateproof.reference.gateway.console.projects import project_page
from gateproof.reference.gateway.console.visit import Visit
from gateproof.reference.gateway.events import Event
from gateproof.reference.gateway.policy.redemption import rfc3339
from gateproof.reference.site.layout import code, section, table
from gateproof.reference.site.markup import Child, foreign, tag

MOST = 200
HEAD = ("Time", "Event", "User", "Resource ID", "Agent")
MARKS = {"succeeded": "mark good", "failed": "mark bad", "Pending": "mark wait"}


async def listed(visit: Visit) -> Response:
    project = visit.project()
    latest = visit.gateway.store.events.of(project.id)[-MOST:]
    rows = [_row(visit, event) for event in reversed(latest)]
    return project_page(
        visit,
        project,
        "/events",
        section(
            "Provisioning events",
            tag(
                "p",
                "A merchant token is fetched when a user signs in, and a failure does not stop the sign-in: "
                "redemption answers 404 afterwards. Then look here, and ask the merchant whether its "
                "authorization server trusts the key set of the Resource. After a refused refresh redemption "
                "answers 410, until the user has authorized again.",
                class_="hint",
            ),
            table("The latest first", HEAD, rows) if rows else tag("p", "Nothing has happened yet."),
        ),
    )


def _row(visit: Visit, event: Event) -> tuple[Child, ...]:
    agent = visit.gateway.store.agents.get(event.agent_id or "")
    at = rfc3339(event.at)
    mark = tag("span", event.what, class_=MARKS.get(event.what.split()[-1], "mark"))
    detail = tag("span", f" {event.detail}", class_="soft") if event.detail else None
    return (
        tag("time", at, datetime=at),
        [mark, detail],
        foreign(event.login_id),
        code(event.resource_id),
        foreign(agent.name) if agent is not None else "no agent",
    )
