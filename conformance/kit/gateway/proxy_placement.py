"""A proxy in front of the merchant's token endpoint, for one Resource that was told to go there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from gateproof.conformance.faults.byte_proxy import ByteProxy, byte_proxy
from gateproof.conformance.faults.intercept.interceptor import Interceptor
from gateproof.conformance.faults.intercept.kept import Kept
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, Unavailable, require
from gateproof.fakes.serving import is_loopback


@dataclass(frozen=True, kw_only=True)
class Behind:
    """A user at a Resource whose merchant is behind a proxy."""

    alone: IsolatedUser
    proxy: ByteProxy

    def require_used(self) -> None:
        """The gateway came by the proxy; one that asks elsewhere meets nothing there."""
        if not self.proxy.connections:
            raise LeftOut("the gateway asks for tokens elsewhere than at the token endpoint that it was told")
        require.that(
            not self.proxy.troubles, "byte-level proxy", expected="no trouble of its own", got="some"
        )


@contextmanager
def behind_a_proxy(world: World) -> Iterator[Behind]:
    """Everything between the gateway and the token endpoint of a Resource goes by a byte-level proxy."""
    alone = placeable(world)
    door = alone.merchant.open_door()
    try:
        at = urlsplit(door)
        with byte_proxy((at.hostname or "", at.port or 0)) as proxy:
            yield Behind(alone=elsewhere(alone, proxy.instead_of(door)), proxy=proxy)
    finally:
        world.standing.note_trouble()
        alone.merchant.close_door(door)


@dataclass(frozen=True, kw_only=True)
class Intercepted:
    """A user at a Resource whose merchant is behind the intercepting proxy."""

    alone: IsolatedUser
    proxy: Interceptor

    def saw(self, body: str) -> bool:
        """True where a request came by whose body has this in it; each is looked at once."""
        return any(re.search(body.encode(), passed.request_body) for passed in self.proxy.passed())


@contextmanager
def behind_an_interceptor(world: World, kept: Kept) -> Iterator[Intercepted]:
    """Every exchange between the gateway and the token endpoint of a Resource goes by the proxy."""
    alone = placeable(world)
    if kept.trust is None:
        raise LeftOut("the gateway trusts the merchant's own certificate alone, which [merchant] fixes")
    proxy, door, hop = kept.interceptor(), alone.merchant.open_door(), world.unique()
    try:
        yield Intercepted(alone=elsewhere(alone, proxy.open(hop, door)), proxy=proxy)
    finally:
        world.standing.note_trouble()
        proxy.arm()
        proxy.close_hop(hop)
        alone.merchant.close_door(door)


def placeable(world: World) -> IsolatedUser:
    """A user at a Resource that can be followed by another with a token endpoint of the run's choice."""
    alone = isolated_user(world)
    if not isinstance(world.projects.pool, ControlledProjects):
        raise Unavailable(
            "control:create_resource", "a token endpoint of its own needs a Resource that the run makes"
        )
    if not is_loopback(urlsplit(world.merchant_api or "").hostname or ""):
        raise LeftOut("the gateway finds the merchant at one address alone, which [merchant] fixes")
    return alone


def elsewhere(alone: IsolatedUser, token_endpoint: str) -> IsolatedUser:
    """The same user at another Resource of the Project, whose token endpoint is at this address."""
    world = alone.world
    resource = world.projects.resource(
        indicator=f"https://api.merchant.example/{world.unique()}",
        project=alone.project,
        token_endpoint=token_endpoint,
    )
    project = replace(alone.project, resource=resource)
    return replace(alone, project=project, client_id=resource.merchant_client_id or "")
