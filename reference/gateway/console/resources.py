"""Resources: the form for a new one, and the reference values of one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import Response

from gateproof.reference.gateway import actions
from gateproof.reference.gateway.arguments import Arguments, WrongArgument
from gateproof.reference.gateway.console.projects import place_of, trail_of
from gateproof.reference.gateway.console.visit import Visit
from gateproof.reference.gateway.policy.discovery import SERVICE, DiscoveryFacts, resource_jwks_uri
from gateproof.reference.gateway.records import Resource
from gateproof.reference.site.layout import button, code, complaint, field, form, section, values
from gateproof.reference.site.markup import Html, tag

METADATA_FILE = "oauth-protected-resource.json"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")


async def asked(visit: Visit) -> Response:
    return _form(visit, None, _as_the_last_one(visit))


async def create(visit: Visit) -> Response:
    """Creates a Resource; the merchant's endpoints are read from its discovery document."""
    project, given = visit.project(), {name: value.strip() for name, value in visit.form.items()}
    issuer, indicator = given.get("issuer", ""), given.get("indicator", "")
    if urlsplit(issuer).scheme not in ("https", "http"):
        return _form(visit, "The merchant's issuer has to be an address.", given)
    document = await visit.gateway.merchants.described(issuer, None)
    if document is None:
        return _form(visit, "The merchant has no discovery document at this issuer that can be read.", given)
    members: dict[str, Any] = {
        "project_id": project.id,
        "indicator": indicator,
        "scopes": given.get("scopes", "").split(),
        "merchant": {
            "issuer": issuer,
            **{name: document.get(name) for name in ENDPOINTS},
            "api_url": given.get("api_url", ""),
            "client_id": given.get("client_id") or None,
            "ca_file": None,
        },
    }
    try:
        made = actions.create_resource(visit.gateway, Arguments(members))
    except WrongArgument as wrong:
        return _form(visit, str(wrong), given)
    return visit.done(f"{place_of(project)}/resources/{made['resource_id']}", "The Resource was created.")


async def opened(visit: Visit) -> Response:
    """The page with the reference values of a Resource."""
    project, resource = visit.project(), _resource(visit)
    base_url = visit.gateway.base_url
    facts = DiscoveryFacts(base_url=base_url, core_url=visit.gateway.core_url, resource=resource)
    reference = values(
        [
            ("Resource ID", code(resource.id)),
            ("Resource indicator", code(resource.indicator)),
            ("Authorization server", code(facts.authorization_server)),
            ("Key set address", code(resource_jwks_uri(base_url, resource.id))),
            ("Scopes", code(" ".join(resource.scopes))),
            ("Project ID", code(project.id)),
        ]
    )
    merchant = values(
        [
            ("Issuer", code(resource.merchant.issuer)),
            ("API", code(resource.merchant.api_url)),
            ("The gateway's client ID there", code(resource.merchant.client_id)),
        ]
    )
    download = tag(
        "form",
        field(
            "Address of your service",
            "service",
            type="url",
            placeholder=SERVICE,
            hint="It becomes the member resource. Left empty, the file has a placeholder to be replaced.",
        ),
        button("Download the metadata file", class_="plain"),
        method="get",
        action=f"{place_of(project)}/resources/{resource.id}/{METADATA_FILE}",
    )
    return visit.page(
        "Resource",
        section(
            "Reference values",
            tag(
                "p",
                "The key set is for the merchant's authorization server: it signs what the gateway asserts "
                "there. Your service verifies gateway access tokens with the key set that the discovery "
                "document names.",
                class_="hint",
            ),
            reference,
        ),
        section(
            "Protected resource metadata",
            tag("p", "What your service publishes, for agents to find the authorization server."),
            download,
        ),
        section("Merchant", merchant),
        trail=trail_of(project),
    )


async def metadata_file(visit: Visit) -> Response:
    """The metadata document for an operator's service, as a file to download."""
    resource, gateway = _resource(visit), visit.gateway
    facts = DiscoveryFacts(base_url=gateway.base_url, core_url=gateway.core_url, resource=resource)
    service = visit.request.query_params.get("service") or SERVICE
    return Response(
        gateway.policies.metadata_file(facts, service).encode("utf-8"),
        headers={"content-disposition": f'attachment; filename="{METADATA_FILE}"'},
        media_type="application/json",
    )


def _resource(visit: Visit) -> Resource:
    resource = visit.gateway.store.resources.get(visit.request.path_params["resource_id"])
    if resource is None or resource.project_id != visit.project().id:
        raise HTTPException(404)
    return resource


def _as_the_last_one(visit: Visit) -> dict[str, str]:
    """Default values for the form: the merchant of the newest Resource."""
    last = next(reversed(visit.gateway.store.resources.values()), None)
    if last is None:
        return {}
    return {"issuer": last.merchant.issuer, "api_url": last.merchant.api_url}


def _form(visit: Visit, wrong: str | None, given: dict[str, str]) -> Response:
    project = visit.project()

    def line(label: str, name: str, hint: str, *, type_: str = "text", required: bool = True) -> Html:
        return field(label, name, hint=hint, type=type_, required=required, value=given.get(name))

    content = form(
        f"{place_of(project)}/resources",
        visit.token,
        line(
            "Resource indicator",
            "indicator",
            "The audience of the merchant's API, to the letter as the merchant gave it to you.",
        ),
        line("Scopes", "scopes", "With spaces between, for example orders:read."),
        line("Issuer of the merchant", "issuer", "Its endpoints are looked up there.", type_="url"),
        line("Address of the merchant's API", "api_url", "Where your service calls it.", type_="url"),
        line(
            "Client ID at the merchant",
            "client_id",
            "What the gateway calls itself there. Left empty, it is the address of the authorization server.",
            required=False,
        ),
        button("Create the Resource"),
        class_="card",
    )
    status = 400 if wrong else 200
    return visit.page("New Resource", complaint(wrong), content, trail=trail_of(project), status=status)
