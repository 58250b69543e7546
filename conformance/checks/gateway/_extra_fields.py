"""Correct token requests with one additional field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gateproof.conformance.checks.gateway._exchanges import refresh
from gateproof.conformance.checks.gateway._refreshed_tokens import reused_refreshed_grant
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.parties import Agent, Resource
from gateproof.conformance.wire.exchange import Exchange

GRANTS = ("exchange", "refresh")


def with_field(
    world: World, grant: str, name: str, value: str, *, agent: Agent, resource: Resource
) -> Exchange:
    """An exchange or a refresh of this agent with the field; left out if refresh is not supported."""
    return with_fields(world, grant, {name: value}, agent=agent, resource=resource)


def with_fields(
    world: World, grant: str, fields: Mapping[str, str], *, agent: Agent, resource: Resource
) -> Exchange:
    """The same with several fields."""
    if grant == "exchange":
        authorization = world.new_code(agent=agent, resource=resource)
        answer = world.gateway.exchange(authorization, **fields)
        return replace(answer, step="exchange with a field more")
    reused_refreshed_grant(world)
    given = world.grant(agent=agent, resource=resource)
    return refresh(world.gateway, agent, given.refresh_token.reveal(), *fields.items())
