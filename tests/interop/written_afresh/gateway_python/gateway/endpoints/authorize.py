"""The authorization endpoint: the agent's request, the sign-in at the merchant, the user's approval."""

import base64
import hashlib
import re
from urllib.parse import quote_from_bytes, urlencode

from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response

from .. import web
from ..agents import Agent
from ..authorizations import LIFETIME_S, Authorization, Request
from ..merchants import Identity, MerchantRefused, MerchantTrouble
from ..projects import Resource
from ..services import Services
from ..tokens import REDEMPTION_SCOPE
from ..vault import Place

REQUIRED = ("response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method")


class UserError(Exception):
    """What only the user can be told, because there is no agent that may be trusted with it."""


class AgentError(Exception):
    """What the agent is told by redirect."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(code)
        self.code = code
        self.description = description


class Endpoints:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def begin(self, http: HttpRequest) -> Response:
        try:
            resource, parameters = self._resource(http), web.read_query(http)
            agent, redirect_uri = self._agent(parameters)
        except UserError as error:
            return web.page("error.html", 400, message=str(error))
        state = _state(parameters)
        try:
            request = _checked(parameters, resource, agent, redirect_uri, state)
        except AgentError as error:
            return self._refuse(redirect_uri, state, error)
        started = self._services.authorizations.start(request)
        response = _redirect(
            self._services.merchants.sign_in_url(
                resource,
                self._services.settings.callback(resource.id),
                started.merchant_state,
                started.merchant_nonce,
                _challenge(started.merchant_verifier),
            )
        )
        self._set_cookie(response, started.id, started.browser)
        return response

    async def signed_in(self, http: HttpRequest) -> Response:
        try:
            resource = self._resource(http)
            answer = _single_values(web.read_query(http))
            authorization = self._authorization_of(http, resource, answer.get("state", ""))
        except UserError as error:
            return web.page("error.html", 400, message=str(error))
        request = authorization.request
        try:
            identity = await self._identity(resource, authorization, answer)
        except AgentError as error:
            return self._refuse(request.redirect_uri, request.state, error)
        sub = self._services.users.subject(resource.project_id, resource.merchant.issuer, identity.login)
        policy = self._services.projects.agent_policy(resource.project_id)
        agent = self._services.agents.find(request.client_id)
        assert agent is not None, "the authorization's agent exists"
        if not self._services.agents.admit(resource.project_id, agent.id, policy):
            return web.page("pending.html", agent=agent)
        browser, form = self._services.authorizations.signed_in(authorization.id, sub, identity.login, identity.amr)
        response = web.page(
            "approve.html",
            agent=agent,
            login=identity.login,
            indicator=resource.indicator,
            scopes=[name for name in request.scope.split() if name in resource.scopes],
            action=f"{self._services.settings.authorization_server(resource.id)}/oauth2/answer",
            authorization=authorization.id,
            form=form,
        )
        self._set_cookie(response, authorization.id, browser)
        return response

    async def answered(self, http: HttpRequest) -> Response:
        try:
            resource = self._resource(http)
            answer = await web.read_form(http)
            authorization = self._services.authorizations.take_answer(
                answer.get("authorization", ""),
                resource.id,
                self._cookie(http, answer.get("authorization", "")),
                answer.get("form", ""),
            )
        except (UserError, web.BadBody) as error:
            return web.page("error.html", 400, message=str(error))
        if authorization is None:
            return web.page("error.html", 400, message="This approval is over. Please start again at the agent.")
        request = authorization.request
        if answer.get("answer") != "approve":
            return self._refuse(request.redirect_uri, request.state, AgentError("access_denied", "the user declined"))
        if not self._services.agents.is_approved(resource.project_id, request.client_id):
            return web.page("pending.html", agent=self._services.agents.find(request.client_id))
        await self._provision(resource, authorization)
        code = self._services.grants.create(authorization)
        return self._return_to_agent(request.redirect_uri, request.state, {"code": code})

    async def _provision(self, resource: Resource, authorization: Authorization) -> None:
        assert authorization.sub is not None and authorization.login is not None, "the user has signed in"
        place = Place(resource.project_id, authorization.sub, resource.id, authorization.login)
        scopes = [name for name in authorization.request.scope.split() if name in resource.scopes]
        await self._services.vault.provision(place, resource, authorization.request.client_id, scopes)

    async def _identity(self, resource: Resource, authorization: Authorization, answer: dict[str, str]) -> Identity:
        if answer.get("iss", resource.merchant.issuer) != resource.merchant.issuer:
            raise AgentError("server_error", "the answer is another identity provider's")
        if not answer.get("code"):
            declined = answer.get("error") == "access_denied"
            raise AgentError("access_denied" if declined else "server_error", "the user was not signed in")
        try:
            return await self._services.merchants.identify(
                resource,
                self._services.settings.callback(resource.id),
                answer["code"],
                authorization.merchant_verifier,
                authorization.merchant_nonce,
            )
        except (MerchantTrouble, MerchantRefused):
            raise AgentError("server_error", "the identity provider's answer cannot be used") from None

    def _resource(self, http: HttpRequest) -> Resource:
        resource = self._services.projects.resource(http.path_params["resource_id"])
        if resource is None:
            raise UserError("There is no such Resource.")
        return resource

    def _agent(self, parameters: list[tuple[str, str]]) -> tuple[Agent, str]:
        """The agent that asks, and its redirect URI: without both nobody can be told anything by redirect."""
        client_ids = [value for name, value in parameters if name == "client_id"]
        redirect_uris = [value for name, value in parameters if name == "redirect_uri"]
        agent = self._services.agents.find(client_ids[0]) if len(client_ids) == 1 and client_ids[0].isascii() else None
        if agent is None:
            raise UserError("The agent is not registered.")
        if len(redirect_uris) != 1 or redirect_uris[0] not in agent.redirect_uris:
            raise UserError("The agent has not registered this redirect URI.")
        return agent, redirect_uris[0]

    def _authorization_of(self, http: HttpRequest, resource: Resource, merchant_state: str) -> Authorization:
        authorization_id = self._services.authorizations.id_of(merchant_state)
        authorization = authorization_id and self._services.authorizations.take_sign_in(
            authorization_id, resource.id, self._cookie(http, authorization_id)
        )
        if not authorization:
            raise UserError("This sign-in is over, or began in another browser. Please start again at the agent.")
        return authorization

    def _refuse(self, redirect_uri: str, state: str, error: AgentError) -> Response:
        return self._return_to_agent(redirect_uri, state, {"error": error.code, "error_description": error.description})

    def _return_to_agent(self, redirect_uri: str, state: str, values: dict[str, str]) -> Response:
        query = urlencode({**values, "iss": self._services.settings.issuer})
        if state:
            query += f"&state={state}"
        return _redirect(f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{query}")

    def _cookie_name(self, authorization_id: str) -> str:
        prefix = "__Host-" if self._services.settings.base_url.startswith("https:") else ""
        return f"{prefix}{authorization_id}"

    def _cookie(self, http: HttpRequest, authorization_id: str) -> str:
        return http.cookies.get(self._cookie_name(authorization_id), "")

    def _set_cookie(self, response: Response, authorization_id: str, value: str) -> None:
        response.set_cookie(
            self._cookie_name(authorization_id),
            value,
            max_age=LIFETIME_S,
            path="/",
            secure=self._services.settings.base_url.startswith("https:"),
            httponly=True,
            samesite="lax",
        )


def _checked(parameters: list[tuple[str, str]], resource: Resource, agent: Agent, redirect_uri: str, state: str) -> Request:
    values = dict(parameters)
    if len(values) != len(parameters):
        raise AgentError("invalid_request", "a parameter is repeated")
    for name in REQUIRED:
        if not values.get(name):
            raise AgentError("invalid_request", f"{name} is missing")
    if values["response_type"] != "code":
        raise AgentError("unsupported_response_type", "response_type must be code")
    if values["code_challenge_method"] != "S256":
        raise AgentError("invalid_request", "code_challenge_method must be S256")
    if not re.fullmatch(r"[A-Za-z0-9_-]{43}", values["code_challenge"]):
        raise AgentError("invalid_request", "code_challenge must be the base64url of a SHA-256")
    nonce = values.get("nonce")
    if nonce is not None and not nonce.isascii():
        raise AgentError("invalid_request", "nonce must be ASCII")
    return Request(
        resource_id=resource.id,
        client_id=agent.id,
        redirect_uri=redirect_uri,
        state=state,
        scope=_granted(values["scope"].split(" "), resource),
        code_challenge=values["code_challenge"],
        nonce=nonce,
    )


def _granted(names: list[str], resource: Resource) -> str:
    if "openid" not in names or not any(name in resource.scopes for name in names):
        raise AgentError("invalid_scope", "openid and a scope of the Resource are required")
    if any(name not in ("openid", REDEMPTION_SCOPE, *resource.scopes) for name in names):
        raise AgentError("invalid_scope", "the Resource does not have this scope")
    return " ".join(dict.fromkeys([*names, REDEMPTION_SCOPE]))


def _state(parameters: list[tuple[str, str]]) -> str:
    """The agent's state, percent-encoded; octets that are no UTF-8 are the agent's business. Empty if unclear."""
    states = [value for name, value in parameters if name == "state"]
    return quote_from_bytes(states[0].encode(errors="surrogateescape"), safe="") if len(states) == 1 else ""


def _single_values(parameters: list[tuple[str, str]]) -> dict[str, str]:
    values = dict(parameters)
    if len(values) != len(parameters):
        raise UserError("The identity provider's answer has a parameter twice.")
    return values


def _redirect(url: str) -> Response:
    return RedirectResponse(url, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
