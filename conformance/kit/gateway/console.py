"""Console operations, through the target's control API."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.suite.parties import Agent, Project, ProxyClient, Resource
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import Unsupported


def second_proxy_client(world: World, project: Project) -> ProxyClient:
    """A Proxy client of the Project other than its first."""
    return _named(world, world.projects.pool.second_proxy_client(project))


def new_proxy_client(world: World, project: Project) -> ProxyClient:
    """A new Proxy client of the Project; a check may revoke it."""
    return _named(world, world.projects.pool.new_proxy_client(project))


def revoked_proxy_client(world: World) -> ProxyClient:
    """A Proxy client that is revoked according to the target file."""
    return _named(world, world.projects.pool.revoked_proxy_client())


def revoke(world: World, client: ProxyClient) -> None:
    """Revokes a Proxy client that this run has created; others could not be restored."""
    action = "revoke_proxy_client"
    if not world.projects.pool.created_by_run(client.id):
        raise Unavailable(
            "control:create_proxy_client", "revoking needs a Proxy client that the run itself has made"
        )
    try:
        actions.revoke_proxy_client(control_for(world.control, action), client.project_id, client.id)
    except Unsupported as unsupported:
        raise Unavailable(f"control:{action}", f"needs the control action {action}") from unsupported
    world.projects.pool.gone(client)


def withhold_redemption_scope(world: World, agent: Agent) -> None:
    """From now on, tokens for this agent do not have the scope ext_token:read."""
    actions.withhold_redemption_scope(
        control_for(world.control, "withhold_redemption_scope"), agent.client_id
    )


def resource_metadata(world: World, resource: Resource) -> str:
    """The text of the Resource's protected resource metadata file."""
    control = control_for(world.control, "resource_metadata")
    return actions.resource_metadata(control, resource.project_id, resource.id)


def resource_in(world: World, project: Project, indicator: str) -> Resource:
    """A new Resource of the Project with exactly this indicator."""
    resource = world.projects.pool.resource(indicator, project)
    world.show(resource.id, resource.indicator, resource.jwks_uri, resource.merchant_client_id or "")
    return resource


def two_with_same_indicator(world: World) -> tuple[Project, Project]:
    """Two Projects for the same merchant API: each has a new Resource with the same indicator."""
    indicator = f"https://api.merchant.example/{world.unique()}"
    one, other = (
        replace(project, resource=resource_in(world, project, indicator))
        for project in (world.projects.another(), world.projects.another())
    )
    return one, other


def siblings(world: World) -> tuple[Resource, Resource]:
    """Two Resources of one Project."""
    one, other = world.projects.two_resources()
    if one.project_id != other.project_id:
        raise Unavailable("resources:2", "the first Project of the target file has one Resource only")
    return one, other


def _named(world: World, client: ProxyClient) -> ProxyClient:
    world.show(client.id)
    world.gateway.keyring.add(client.secret)
    return client
