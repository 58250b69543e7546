"""The gateway's ASGI applications: base, core and control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateproof.doubles.endpoints import Endpoints
from gateproof.reference.gateway.clock import Clock
from gateproof.reference.gateway.gateway import Gateway, build
from gateproof.reference.gateway.handlers import metadata, registration, sign_in
from gateproof.reference.gateway.handlers.authorization import authorize
from gateproof.reference.gateway.handlers.control import control
from gateproof.reference.gateway.handlers.redemption import redeem
from gateproof.reference.gateway.handlers.token import token
from gateproof.reference.gateway.logbook import Logbook, RequestLog
from gateproof.reference.gateway.merchants import Connect, connect
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.state_file import StateFile
from gateproof.reference.ids import Ids, RandomIds
from gateproof.reference.web import json_answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Apps:
    """The applications; on a shared origin both have all routes."""

    gateway: Gateway
    base: ASGIApp
    core: ASGIApp


def create_apps(
    *,
    base_url: str,
    core_url: str,
    policies: Policies | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    connecting: Connect = connect,
    echo_log: bool = False,
    state: StateFile | None = None,
) -> Apps:
    """A gateway with the data of its state file, if any. Other policies make it a defect or a variant."""
    policies, clock, ids = policies or Policies(), clock or Clock(), ids or RandomIds()
    before = None if state is None else state.load(clock)
    gateway = build(
        base_url=base_url,
        core_url=core_url,
        policies=policies,
        clock=clock,
        ids=ids,
        log=Logbook(echo=echo_log),
        connecting=connecting,
        store=None if before is None else policies.left_after_a_restart(before, ids),
    )
    base, core = base_routes(gateway), core_routes(gateway)
    shared = same_origin(base_url, core_url)
    return Apps(
        gateway=gateway,
        # The core's fixed paths come first, because base routes start with a Resource ID.
        base=_app(gateway, [*core, *base] if shared else base),
        core=_app(gateway, [*core, *base] if shared else core),
    )


def control_app(gateway: Gateway, *, path: str = "/control", token: str | None = None) -> ASGIApp:
    """The control endpoint, protected by a token if one is given."""
    route = Route(path or "/", control(gateway, token), methods=["POST"])
    return Endpoints([route], _refused)


def same_origin(one: str, other: str) -> bool:
    return urlsplit(one)[:2] == urlsplit(other)[:2]


def base_routes(gateway: Gateway) -> list[Route]:
    prefix = gateway.base_path
    well_known = "/.well-known/openid-configuration"
    oauth = "/.well-known/oauth-authorization-server"
    discovery = metadata.discovery(gateway)
    own = f"{prefix}/{{resource_id}}"
    by = "POST" if gateway.policies.merchant_response_mode == "form_post" else "GET"
    callbacks = f"{prefix if gateway.policies.one_callback else own}/sign-in/callback"
    return [
        Route(f"{prefix}/api/register", registration.register(gateway), methods=["POST"]),
        Route(f"{prefix}/api/credentials/token", redeem(gateway), methods=["POST"]),
        Route(f"{own}{well_known}", discovery, methods=["GET"]),
        # With the well-known part first, as in RFC 8414; MCP clients use these URLs.
        Route(f"{oauth}{own}", discovery, methods=["GET"]),
        Route(f"{well_known}{own}", discovery, methods=["GET"]),
        Route(f"{own}/jwks", metadata.resource_key_set(gateway), methods=["GET"]),
        Route(f"{own}/oauth2/auth", authorize(gateway), methods=["GET"]),
        Route(callbacks, sign_in.callback(gateway), methods=[by]),
        Route(f"{own}/sign-in/decision", sign_in.decision(gateway), methods=["POST"]),
    ]


def core_routes(gateway: Gateway) -> list[Route]:
    prefix = urlsplit(gateway.core_url).path
    return [
        Route(f"{prefix}/oauth2/token", token(gateway), methods=list(gateway.policies.token_methods)),
        Route(f"{prefix}/jwks", metadata.core_key_set(gateway), methods=["GET"]),
    ]


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict((error.headers or {}) if isinstance(error, HTTPException) else {})
    code = {413: "invalid_request", 500: "server_error"}.get(status) or HTTPStatus(status).name.lower()
    return json_answer({"error": code}, status, {**headers, "cache-control": "no-store"})


def _app(gateway: Gateway, routes: Sequence[Route]) -> ASGIApp:
    inner = gateway.policies.around(Endpoints(routes, _refused), gateway)
    return RequestLog(inner, log=gateway.log, policies=gateway.policies, store=gateway.store)
