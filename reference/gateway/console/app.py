"""The Console as an ASGI application."""

from __future__ import annotations

from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateproof.reference.gateway.console import agents, events, projects, proxy_clients, resources, signing_in
from gateproof.reference.gateway.console.signing_in import Operator
from gateproof.reference.gateway.console.visit import ConsoleSessions, Handler, SignedInEndpoints, Visit
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.site.layout import Frame, document
from gateproof.reference.site.markup import tag
from gateproof.reference.site.visits import Guard, assets, redirect_to, shown

PROJECT = "/projects/{project_id}"
PAGES: dict[str, Handler] = {
    "/projects": projects.listed,
    "/projects/new": projects.asked,
    PROJECT: projects.opened,
    f"{PROJECT}/resources/new": resources.asked,
    f"{PROJECT}/resources/{{resource_id}}": resources.opened,
    f"{PROJECT}/resources/{{resource_id}}/{resources.METADATA_FILE}": resources.metadata_file,
    f"{PROJECT}/proxy-clients": proxy_clients.listed,
    f"{PROJECT}/proxy-clients/{{client_id}}/revoke": proxy_clients.asked,
    f"{PROJECT}/agents": agents.listed,
    f"{PROJECT}/events": events.listed,
}
ACTIONS: dict[str, Handler] = {
    "/projects": projects.create,
    f"{PROJECT}/agent-policy": projects.set_policy,
    f"{PROJECT}/resources": resources.create,
    f"{PROJECT}/proxy-clients": proxy_clients.generate,
    f"{PROJECT}/proxy-clients/{{client_id}}/revoke": proxy_clients.revoke,
    f"{PROJECT}/agents/{{client_id}}/approve": agents.approve,
}


def console_app(gateway: Gateway, *, console_url: str, operator: Operator) -> ASGIApp:
    """The Console of one gateway at this origin."""
    # Strict: the cookie is not sent with requests from other sites, not even for links.
    sessions = ConsoleSessions(origin=console_url, name="console", same_site="Strict")
    endpoints = SignedInEndpoints(gateway=gateway, sessions=sessions)

    async def home(_request: Request) -> Response:
        return redirect_to("/projects")

    async def sign_out(visit: Visit) -> Response:
        return signing_in.sign_out(sessions, visit)

    routes = [
        Route("/", home, methods=["GET"]),
        *assets(),
        Route("/sign-in", signing_in.ask(sessions), methods=["GET"]),
        Route("/sign-in", signing_in.sign_in(sessions, operator), methods=["POST"]),
        Route("/sign-out", endpoints.writing(sign_out), methods=["POST"]),
        *(Route(path, endpoints.reading(handler), methods=["GET"]) for path, handler in PAGES.items()),
        *(Route(path, endpoints.writing(handler), methods=["POST"]) for path, handler in ACTIONS.items()),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused, Exception: _refused})
    return Guard(app, origin=console_url)


WHY = {
    403: "This form is too old, or from another site. Go back, reload the page, and try again.",
    404: "There is nothing at this address. It may have been deleted.",
}


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    why = tag("p", WHY.get(status, "The Console cannot do this."))
    back = tag("p", tag("a", "To the Projects", href="/projects"))
    frame = Frame(site="Console", home="/projects")
    return shown(document(frame, HTTPStatus(status).phrase, why, back), status)
