"""The actions of Console and control endpoint, which change the store."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from gateproof.reference.gateway.arguments import Arguments, WrongArgument
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.keys import rotated
from gateproof.reference.gateway.policy.discovery import (
    SERVICE,
    DiscoveryFacts,
    authorization_server,
    resource_jwks_uri,
)
from gateproof.reference.gateway.records import AgentPolicy, MerchantPlace, Project, ProxyClient, Resource
from gateproof.reference.outcomes import JsonObject

NAME, VERSION = "gateproof reference gateway", "1"
Action = Callable[[Gateway, Arguments], JsonObject]


def describe(gateway: Gateway, arguments: Arguments) -> JsonObject:
    arguments.done()
    return {
        "name": NAME,
        "version": VERSION,
        "actions": sorted(ACTIONS),
        "clock_offset_s": gateway.clock.offset_s,
    }


def create_project(gateway: Gateway, arguments: Arguments) -> JsonObject:
    name, policy = arguments.text("name"), arguments.text_or_null("agent_policy")
    arguments.done()
    project = Project(
        id=gateway.ids.identifier("prj_"),
        name=name,
        agent_policy=gateway.policies.first_policy(_agent_policy(policy) if policy is not None else None),
    )
    gateway.store.projects[project.id] = project
    return {"project_id": project.id}


def delete_project(gateway: Gateway, arguments: Arguments) -> JsonObject:
    project = _project(gateway, arguments)
    arguments.done()
    gateway.store.delete_project(project.id)
    return {}


def set_agent_policy(gateway: Gateway, arguments: Arguments) -> JsonObject:
    project, policy = _project(gateway, arguments), _agent_policy(arguments.text("agent_policy"))
    arguments.done()
    gateway.store.projects[project.id] = replace(project, agent_policy=policy)
    return {}


def create_resource(gateway: Gateway, arguments: Arguments) -> JsonObject:
    project = _project(gateway, arguments)
    indicator, scopes = arguments.text("indicator"), arguments.texts("scopes")
    if not scopes or any(not scope.isascii() or scope != "".join(scope.split()) for scope in scopes):
        raise WrongArgument("scopes: expected one or more scopes without spaces")
    resource_id = gateway.ids.identifier("res_")
    merchant = _merchant(arguments.object("merchant"), authorization_server(gateway.base_url, resource_id))
    arguments.done()
    try:
        gateway.merchants.trust(merchant.ca_file)
    except (OSError, ssl.SSLError):
        raise WrongArgument("merchant.ca_file: expected a readable file of PEM certificates") from None
    resource = Resource(
        id=resource_id,
        project_id=project.id,
        indicator=indicator,
        scopes=scopes,
        merchant=merchant,
        key=gateway.policies.new_resource_key(gateway.ids),
    )
    gateway.store.resources[resource.id] = resource
    return {"resource_id": resource.id, "jwks_uri": resource_jwks_uri(gateway.base_url, resource.id)}


def create_proxy_client(gateway: Gateway, arguments: Arguments) -> JsonObject:
    """The only answer that contains the secret."""
    project = _project(gateway, arguments)
    arguments.done()
    secret = gateway.ids.secret()
    client = ProxyClient(
        id=gateway.ids.identifier("proxy_"),
        secret=gateway.policies.kept_proxy_secret(secret),
        project_id=project.id,
    )
    gateway.store.proxy_clients[client.id] = client
    return {"client_id": client.id, "client_secret": secret}


def revoke_proxy_client(gateway: Gateway, arguments: Arguments) -> JsonObject:
    project = _project(gateway, arguments)
    client = gateway.store.proxy_clients.get(arguments.text("client_id"))
    arguments.done()
    if client is None or client.project_id != project.id:
        raise WrongArgument("client_id: the Project has no such Proxy client")
    gateway.store.proxy_clients[client.id] = replace(client, revoked=True)
    return {}


def approve_agent(gateway: Gateway, arguments: Arguments) -> JsonObject:
    project, agent_id = _project(gateway, arguments), _agent(gateway, arguments)
    arguments.done()
    gateway.policies.record_approval(
        gateway.store.standings, gateway.policies.standing_key(project.id, agent_id)
    )
    return {}


def withhold_redemption_scope(gateway: Gateway, arguments: Arguments) -> JsonObject:
    agent_id = _agent(gateway, arguments)
    arguments.done()
    agents = gateway.store.agents
    agents[agent_id] = replace(agents[agent_id], withholds_redemption_scope=True)
    return {}


def advance_clock(gateway: Gateway, arguments: Arguments) -> JsonObject:
    seconds = arguments.seconds("seconds")
    arguments.done()
    gateway.clock.advance(seconds)
    return {}


def rotate_keys(gateway: Gateway, arguments: Arguments) -> JsonObject:
    arguments.done()
    ring = gateway.store.core_keys
    gateway.store.core_keys = rotated(ring, gateway.policies.new_core_key(gateway.ids), gateway.clock.now())
    return {}


def logs(gateway: Gateway, arguments: Arguments) -> JsonObject:
    arguments.done()
    return {"text": gateway.log.drain()}


def resource_metadata(gateway: Gateway, arguments: Arguments) -> JsonObject:
    """The file that the Console offers for download."""
    project = _project(gateway, arguments)
    resource = gateway.store.resources.get(arguments.text("resource_id"))
    arguments.done()
    if resource is None or resource.project_id != project.id:
        raise WrongArgument("resource_id: the Project has no such Resource")
    facts = DiscoveryFacts(base_url=gateway.base_url, core_url=gateway.core_url, resource=resource)
    return {"document": gateway.policies.metadata_file(facts, SERVICE)}


ACTIONS: dict[str, Action] = {
    action.__name__: action
    for action in (
        describe,
        create_project,
        delete_project,
        set_agent_policy,
        create_resource,
        create_proxy_client,
        revoke_proxy_client,
        approve_agent,
        withhold_redemption_scope,
        advance_clock,
        rotate_keys,
        logs,
        resource_metadata,
    )
}


def _project(gateway: Gateway, arguments: Arguments) -> Project:
    project = gateway.store.projects.get(arguments.text("project_id"))
    if project is None:
        raise WrongArgument("project_id: there is no such Project")
    return project


def _agent(gateway: Gateway, arguments: Arguments) -> str:
    agent_id = arguments.text("client_id")
    if agent_id not in gateway.store.agents:
        raise WrongArgument("client_id: there is no such agent")
    return agent_id


def _agent_policy(value: str) -> AgentPolicy:
    if value not in ("approve", "hold"):
        raise WrongArgument("agent_policy: expected approve or hold")
    return cast(AgentPolicy, value)


def _merchant(members: Arguments, usual_client_id: str) -> MerchantPlace:
    """The merchant; by default the gateway's client ID there is the Resource's authorization server URL."""
    place = MerchantPlace(
        issuer=members.text("issuer"),
        authorization_endpoint=members.text("authorization_endpoint"),
        token_endpoint=members.text("token_endpoint"),
        userinfo_endpoint=members.text("userinfo_endpoint"),
        jwks_uri=members.text("jwks_uri"),
        api_url=members.text("api_url"),
        client_id=members.text_or_null("client_id") or usual_client_id,
        ca_file=members.text_or_null("ca_file"),
    )
    members.done()
    return place
