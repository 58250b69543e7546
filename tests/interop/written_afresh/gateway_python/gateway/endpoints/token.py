"""The token endpoint of the core, for agents and for operators' backends."""

import base64

from starlette.requests import Request
from starlette.responses import JSONResponse

from .. import web
from ..agents import Agent
from ..grants import Grant, InvalidGrant, InvalidScope
from ..keys import ACCESS_TOKEN_LIFETIME_S
from ..projects import PROXY_TOKEN_LIFETIME_S
from ..services import Services
from ..tokens import REDEMPTION_SCOPE


class Endpoint:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def token(self, request: Request) -> JSONResponse:
        try:
            form = await web.read_form(request)
        except web.BadBody as error:
            raise web.ApiError(400, "invalid_request", str(error)) from None
        if request.url.query:
            raise web.ApiError(400, "invalid_request", "parameters belong into the body")
        match form.get("grant_type"):
            case "client_credentials":
                answer = self._proxy_token(request, form)
            case "authorization_code":
                answer = self._exchange(self._agent(request, form), form)
            case "refresh_token":
                answer = self._refresh(self._agent(request, form), form)
            case None | "":
                raise web.ApiError(400, "invalid_request", "grant_type is missing")
            case _:
                raise web.ApiError(400, "unsupported_grant_type", "this grant is not supported")
        return JSONResponse(answer, headers=web.NOT_STORED)

    def _proxy_token(self, request: Request, form: dict[str, str]) -> dict[str, object]:
        credentials = _basic(web.single_header(request, "authorization"))
        client = self._services.projects.authenticate_proxy_client(*credentials) if credentials else None
        if client is None or "client_secret" in form:
            raise web.ApiError(401, "invalid_client", "unknown Proxy client", {"WWW-Authenticate": 'Basic realm="gateway"'})
        token = self._services.projects.issue_proxy_token(client)
        return {"access_token": token, "token_type": "Bearer", "expires_in": PROXY_TOKEN_LIFETIME_S - 1}

    def _agent(self, request: Request, form: dict[str, str]) -> Agent:
        """The agent that calls. Agents authenticate in the body; a header is refused even beside a good body."""
        if "authorization" in request.headers:
            raise web.ApiError(401, "invalid_client", "agents use client_secret_post", {"WWW-Authenticate": 'Basic realm="gateway"'})
        agent = self._services.agents.authenticate(form.get("client_id", ""), form.get("client_secret", ""))
        if agent is None:
            raise web.ApiError(401, "invalid_client", "unknown agent or wrong secret")
        return agent

    def _exchange(self, agent: Agent, form: dict[str, str]) -> dict[str, object]:
        values = [form.get(name) for name in ("code", "redirect_uri", "code_verifier")]
        if not all(values):
            raise web.ApiError(400, "invalid_request", "code, redirect_uri and code_verifier are required")
        try:
            grant, refresh_token = self._services.grants.exchange_code(agent.id, *values)
        except InvalidGrant:
            raise web.ApiError(400, "invalid_grant", "the code is not, or no longer, good for this") from None
        return self._answer(agent, grant, grant.scope, refresh_token)

    def _refresh(self, agent: Agent, form: dict[str, str]) -> dict[str, object]:
        if not form.get("refresh_token"):
            raise web.ApiError(400, "invalid_request", "refresh_token is required")
        if "refresh_token" not in agent.grant_types:
            raise web.ApiError(400, "unauthorized_client", "the agent has not registered this grant")
        try:
            grant, refresh_token, scope = self._services.grants.refresh(agent.id, form["refresh_token"], form.get("scope"))
        except InvalidScope:
            raise web.ApiError(400, "invalid_scope", "more than was granted") from None
        except InvalidGrant:
            raise web.ApiError(400, "invalid_grant", "the refresh token is not, or no longer, good") from None
        return self._answer(agent, grant, scope, refresh_token)

    def _answer(self, agent: Agent, grant: Grant, scope: str, refresh_token: str) -> dict[str, object]:
        resource = self._services.projects.resource(grant.resource_id)
        assert resource is not None, "a grant's Resource exists"
        if agent.redemption_withheld:
            scope = " ".join(name for name in scope.split() if name != REDEMPTION_SCOPE)
        return {
            "access_token": self._services.tokens.access_token(grant, agent, resource, scope),
            "token_type": "Bearer",
            "expires_in": ACCESS_TOKEN_LIFETIME_S,
            "refresh_token": refresh_token,
            "id_token": self._services.tokens.id_token(grant, agent),
            "scope": scope,
        }


def _basic(header: str | None) -> tuple[str, str] | None:
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return None
    return (name, secret) if colon else None
