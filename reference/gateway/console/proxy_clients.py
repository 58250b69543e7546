"""Proxy clients: list, generation with the secret shown once, and permanent revocation."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from gateproof.reference.gateway import actions
from gateproof.reference.gateway.arguments import Arguments
from gateproof.reference.gateway.console.projects import place_of, project_page, ticket, trail_of
from gateproof.reference.gateway.console.visit import Visit
from gateproof.reference.gateway.records import Project, ProxyClient
from gateproof.reference.site.layout import button, code, form, section, table, values
from gateproof.reference.site.markup import Child, tag


async def listed(visit: Visit) -> Response:
    project = visit.project()
    clients = [each for each in visit.gateway.store.proxy_clients.values() if each.project_id == project.id]
    rows = [_row(project, client) for client in clients]
    found = table("Machine credentials of your backends", ("Client ID", "State", "Action"), rows)
    new = form(_place(project), visit.token, ticket(), button("Generate a Proxy client"))
    return project_page(
        visit,
        project,
        "/proxy-clients",
        section(
            "Proxy clients",
            tag(
                "p",
                "The secret is shown once, when a Proxy client is generated. If it is lost, generate another "
                "one and revoke this one.",
                class_="hint",
            ),
            found if rows else tag("p", "There is no Proxy client yet."),
            new,
        ),
    )


async def generate(visit: Visit) -> Response:
    """The only page with the secret; the store keeps a fingerprint."""
    project = visit.project()
    if not visit.is_first(visit.form.get("ticket", "")):
        return visit.done(_place(project), "Nothing was generated: this form was used before.")
    made = actions.create_proxy_client(visit.gateway, Arguments({"project_id": project.id}))
    return visit.page(
        "Proxy client generated",
        tag(
            "section",
            tag("h2", "Copy the secret now", id="now"),
            tag(
                "p",
                "It is not kept, and nobody can show it to you again. It belongs into the secret store of "
                "your backend: never into an agent, a browser or a log.",
            ),
            values([("Client ID", code(made["client_id"])), ("Client secret", code(made["client_secret"]))]),
            aria_labelledby="now",
            class_="secret",
        ),
        tag("p", tag("a", "I have copied it", href=_place(project), class_="button")),
        trail=trail_of(project),
    )


async def asked(visit: Visit) -> Response:
    """The confirmation page before a revocation."""
    project, client = visit.project(), _client(visit)
    if client.revoked:
        return visit.done(_place(project), "This Proxy client was revoked before.")
    buttons = [
        form(f"{_place(project)}/{client.id}/revoke", visit.token, button("Revoke it", class_="danger")),
        tag("a", "Keep it", href=_place(project), class_="button plain"),
    ]
    return visit.page(
        "Revoke this Proxy client?",
        tag(
            "div",
            tag(
                "p",
                "Whatever uses ",
                code(client.id),
                " will be refused from this moment on, with the Proxy tokens "
                "that it has already. This cannot be undone.",
            ),
            tag("div", buttons, class_="row"),
            class_="card",
        ),
        trail=trail_of(project),
    )


async def revoke(visit: Visit) -> Response:
    project, client = visit.project(), _client(visit)
    actions.revoke_proxy_client(visit.gateway, Arguments({"project_id": project.id, "client_id": client.id}))
    return visit.done(_place(project), "The Proxy client was revoked.")


def _row(project: Project, client: ProxyClient) -> tuple[Child, ...]:
    if client.revoked:
        return code(client.id), tag("span", "revoked", class_="mark bad"), "none"
    link = tag(
        "a",
        "Revoke",
        tag("span", f" {client.id}", class_="unseen"),
        href=f"{_place(project)}/{client.id}/revoke",
    )
    return code(client.id), tag("span", "active", class_="mark good"), link


def _place(project: Project) -> str:
    return f"{place_of(project)}/proxy-clients"


def _client(visit: Visit) -> ProxyClient:
    client = visit.gateway.store.proxy_clients.get(visit.request.path_params["client_id"])
    if client is None or client.project_id != visit.project().id:
        raise HTTPException(404)
    return client
