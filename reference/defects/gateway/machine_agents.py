"""Gateways that issue Proxy tokens to an agent because of its registration or its token request."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.gateway.proxy_clients import (
    AGENTS_AS_PROXY_CLIENTS,
    credentials_from_form_or_basic,
)
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import proxy
from gateproof.reference.gateway.policy.code_exchange import TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import (
    PROXY_CLIENT_CHECKS,
    ProxyClientFacts,
    ProxyCredentials,
)
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    RegistrationFacts,
    auth_method_is_supported,
    grants_are_supported,
)
from gateproof.reference.gateway.records import Agent, ProxyClient
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal

MACHINE = ("client_credentials",)
# The form of the current request.
_FORM: ContextVar[TokenRequestFacts | None] = ContextVar("form", default=None)


def no_basic(facts: RegistrationFacts) -> Refusal | None:
    return auth_method_is_supported(facts) if _method(facts) == "client_secret_basic" else None


def _method(facts: RegistrationFacts) -> object:
    return facts.value("token_endpoint_auth_method")


ANY_AGENT = instead(without(REGISTRATION_CHECKS, grants_are_supported), auth_method_is_supported, no_basic)


def home_of(store: Store, agent: Agent) -> str:
    """The Project that the agent used first, or else the first Project."""
    mine = (project for project, agent_id in store.standings if agent_id == agent.id)
    return next(mine, next(iter(store.projects), ""))


def backends_if(is_one: Callable[[Agent], bool]) -> Callable[[Store, ProxyCredentials], ProxyClient | None]:
    def named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
        agent = store.agents.get(credentials.client_id)
        if agent is None or not is_one(agent):
            return proxy.proxy_client_named(store, credentials)
        return ProxyClient(id=agent.id, secret=agent.secret, project_id=home_of(store, agent))

    return named


def of_a_project_that_is_named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """Treats an agent as a Proxy client of the Project that its request names."""
    agent, facts = store.agents.get(credentials.client_id), _FORM.get()
    if agent is None or facts is None or facts.value("project_id") not in store.projects:
        return proxy.proxy_client_named(store, credentials)
    return ProxyClient(id=agent.id, secret=agent.secret, project_id=facts.value("project_id"))


def of_a_resource_that_is_named(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """Treats an agent as a Proxy client of the Project of the Resource that its request names."""
    agent, facts = store.agents.get(credentials.client_id), _FORM.get()
    indicator = facts.value("resource") if facts else ""
    meant = next((each for each in store.resources.values() if each.indicator == indicator), None)
    if agent is None or meant is None:
        return proxy.proxy_client_named(store, credentials)
    return ProxyClient(id=agent.id, secret=agent.secret, project_id=meant.project_id)


def noting_the_form(facts: TokenRequestFacts) -> ProxyCredentials | Refusal:
    _FORM.set(facts)
    return credentials_from_form_or_basic(facts)


def by_assertion_or_basic(facts: TokenRequestFacts) -> ProxyCredentials | Refusal:
    """Takes the client ID from the assertion without verifying its signature."""
    _FORM.set(facts)
    try:
        payload = facts.value("client_assertion").split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, binascii.Error):
        return proxy.proxy_credentials(facts)
    return ProxyCredentials(client_id=str(claims.get("sub")), secret="")


def by_client_id_or_basic(facts: TokenRequestFacts) -> ProxyCredentials | Refusal:
    _FORM.set(facts)
    if facts.authorization is None and facts.value("client_id") and not facts.value("client_secret"):
        return ProxyCredentials(client_id=facts.value("client_id"), secret="")
    return proxy.proxy_credentials(facts)


def without_secret(names: Callable[[TokenRequestFacts], bool]) -> dict[str, Any]:
    """Requires no secret from an agent in requests for which `names` is true."""

    def check(facts: ProxyClientFacts) -> Refusal | None:
        request = _FORM.get()
        exempt = request is not None and names(request) and not facts.credentials.secret
        if exempt and facts.client is not None and facts.client.id.startswith("agent_"):
            return None
        return proxy.proxy_secret_is_right(facts)

    return {"proxy_client_checks": instead(PROXY_CLIENT_CHECKS, proxy.proxy_secret_is_right, check)}


DEFECTS = (
    defect(
        "agents-for-that-grant-alone-are-backends (PROXY-08): An agent that registers only the grant "
        "client_credentials gets Proxy tokens.",
        registration_checks=ANY_AGENT,
        proxy_credentials=credentials_from_form_or_basic,
        proxy_client_named=backends_if(lambda agent: agent.grant_types == MACHINE),
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "public-agents-are-backends (PROXY-08): An agent that registers the method `none` gets Proxy tokens "
        "for its client ID alone.",
        registration_checks=ANY_AGENT,
        proxy_credentials=by_client_id_or_basic,
        proxy_client_named=backends_if(lambda agent: agent.auth_method == "none"),
        **without_secret(lambda _request: True),
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "agents-with-assertions-are-backends (PROXY-08): An agent that registers an assertion method gets "
        "Proxy tokens for an unverified assertion.",
        registration_checks=ANY_AGENT,
        proxy_credentials=by_assertion_or_basic,
        proxy_client_named=backends_if(
            lambda agent: agent.auth_method in ("private_key_jwt", "client_secret_jwt")
        ),
        **without_secret(lambda request: bool(request.value("client_assertion"))),
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "agent-names-its-project (PROXY-08): An agent whose token request names a Project gets a Proxy token "
        "of that Project.",
        proxy_credentials=noting_the_form,
        proxy_client_named=of_a_project_that_is_named,
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "agent-names-a-resource-to-redeem (PROXY-08): An agent whose token request names a Resource gets a "
        "Proxy token of the Resource's Project.",
        proxy_credentials=noting_the_form,
        proxy_client_named=of_a_resource_that_is_named,
        **AGENTS_AS_PROXY_CLIENTS,
    ),
)
