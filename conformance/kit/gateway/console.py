"""What an operator does in the Console, where the target lets a program do it."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import Unavailable
from gateproof.conformance.suite.parties import Agent, Project, ProxyClient, Resource
from gateproof.conformance.targets import actions
from gateproof.conformance.targets.connect import control_for
from gateproof.conformance.targets.control import Unsupported


def proxy_client_beside(world: World, project: Project) -> ProxyClient:
    """A Proxy client of the Project other than its first."""
    return _named(world, world.projects.pool.proxy_client_beside(project))


def new_proxy_client(world: World, project: Project) -> ProxyClient:
    """A Proxy client that the run makes in the Project, so that it may be revoked."""
    return _named(world, world.projects.pool.new_proxy_client(project))


def revoked_proxy_client(world: World) -> ProxyClient:
    """A Proxy client that the target file says is revoked."""
    return _named(world, world.projects.pool.revoked_proxy_client())


def revoke(world: World, client: ProxyClient) -> None:
    """Revokes a Proxy client of this run's own making, and no other: nothing would bring it back."""
    action = "revoke_proxy_client"
    if not world.projects.pool.is_own(client.id):
        raise Unavailable(
            "control:create_proxy_client", "revoking needs a Proxy client that the run itself has made"
        )
    try:
        actions.revoke_proxy_client(control_for(world.control, action), client.project_id, client.id)
    except Unsupported as unsupported:
        raise Unavailable(f"control:{action}", f"needs the control action {action}") from unsupported
    world.projects.pool.gone(client)


def withhold_redemption_scope(world: World, agent: Agent) -> None:
    """Tokens that the agent gets from now on lack ext_token:read."""
    actions.withhold_redemption_scope(
        control_for(world.control, "withhold_redemption_scope"), agent.client_id
    )


def resource_in(world: World, project: Project, indicator: str) -> Resource:
    """A new Resource of the Project with this indicator, as it is written."""
    resource = world.projects.pool.resource(indicator, project)
    world.show(resource.id, resource.indicator, resource.jwks_uri, resource.merchant_client_id or "")
    return resource


def of_one_indicator(world: World) -> tuple[Project, Project]:
    """Two Projects that reach the same merchant API: each has a new Resource of the same indicator."""
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
