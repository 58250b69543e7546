"""The reference gateway with a second metadata document, at the two places where RFC 8414 clients look first.

The document that the specification demands keeps its place and its issuer. The second one names the
per-Resource authorization server as `issuer`, and the authorization response leaves out `iss`, which could
agree with one of them only.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from gateproof.reference.gateway.apps import control_app, create_apps
from gateproof.reference.gateway.command import TOKEN_VARIABLE
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy.authorization import code_redirect
from gateproof.reference.gateway.policy.discovery import DiscoveryFacts, discovery_document
from gateproof.reference.gateway.records import AuthorizationRequest
from gateproof.reference.outcomes import JsonObject
from gateproof.reference.serving import Origin, run, server_tls
from gateproof.reference.web import Endpoint

WELL_KNOWN = ("oauth-authorization-server", "openid-configuration")


def without_iss(request: AuthorizationRequest, code: str, issuer: str) -> str:
    location, _, _ = code_redirect(request, code, issuer).rpartition("&iss=")
    return location


def silent_about_iss(facts: DiscoveryFacts) -> JsonObject:
    document = discovery_document(facts)
    return document | {"authorization_response_iss_parameter_supported": False}


def second_document(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        resource = gateway.store.resources.get(request.path_params["resource_id"])
        if resource is None:
            return Response(status_code=404)
        facts = DiscoveryFacts(base_url=gateway.base_url, core_url=gateway.core_url, resource=resource)
        return JSONResponse(silent_about_iss(facts) | {"issuer": facts.authorization_server})

    return endpoint


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--base-url", "--core-url", "--control-url"):
        parser.add_argument(name, required=True)
    for name in ("--tls-cert", "--tls-key"):
        parser.add_argument(name, required=True, type=Path)
    parser.add_argument("--exit-with-stdin", action="store_true")
    given = parser.parse_args()
    policies = Policies(code_redirect=without_iss, discovery_document=silent_about_iss)
    apps = create_apps(base_url=given.base_url, core_url=given.core_url, policies=policies)
    endpoint = second_document(apps.gateway)
    routes = [Route(f"/.well-known/{name}/{{resource_id}}", endpoint) for name in WELL_KNOWN]
    control = control_app(
        apps.gateway, path=urlsplit(given.control_url).path, token=os.environ.get(TOKEN_VARIABLE)
    )
    run(
        [
            Origin(app=Starlette(routes=[*routes, Mount("/", apps.base)]), url=given.base_url),
            Origin(app=apps.core, url=given.core_url),
            Origin(app=control, url=given.control_url),
        ],
        tls=server_tls(given.tls_cert, given.tls_key),
        exit_with_stdin=given.exit_with_stdin,
        on_exit=apps.gateway.merchants.aclose,
    )


if __name__ == "__main__":
    main()
