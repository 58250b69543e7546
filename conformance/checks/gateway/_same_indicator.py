"""One user at Resources of two Projects that have the same indicator."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.parties import Project


def in_two_projects(world: World) -> tuple[IsolatedUser, IsolatedUser]:
    """A new user in two Projects whose Resources have the same indicator; no other check uses these."""
    one, other = console.two_with_same_indicator(world)
    alone = isolated_user(world)
    return at(alone, one), at(alone, other)


def at(alone: IsolatedUser, project: Project) -> IsolatedUser:
    """The same user in another Project."""
    return replace(alone, project=project, client_id=project.resource.merchant_client_id or "")
