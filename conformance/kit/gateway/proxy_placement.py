"""Puts a proxy in front of the merchant's token endpoint, for one Resource."""

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
from gateproof.conformance.kit.gateway.own_names import by_address, by_name, suffix_of
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, Unavailable, require
from gateproof.fakes.serving import is_loopback


@dataclass(frozen=True, kw_only=True)
class ProxiedUser:
    """A user at a Resource whose token endpoint is behind a byte-level proxy."""

    alone: IsolatedUser
    proxy: ByteProxy

    def require_used(self) -> None:
        """Requires that the gateway used the proxy; LeftOut if it requests tokens at another address."""
        if not self.proxy.connections:
            raise LeftOut("the gateway requests tokens at another address than the configured token endpoint")
        require.that(
            not self.proxy.troubles, "byte-level proxy", expected="no error in the proxy itself", got="some"
        )


@contextmanager
def behind_a_proxy(world: World) -> Iterator[ProxiedUser]:
    """Puts a byte-level proxy between the gateway and the token endpoint of a new Resource."""
    alone = user_of_movable_resource(world)
    listener_url = alone.merchant.open_listener()
    try:
        at = urlsplit(by_address(world, listener_url))
        with byte_proxy((at.hostname or "", at.port or 0)) as proxy:
            through = by_name(world, proxy.instead_of(listener_url))
            yield ProxiedUser(alone=with_token_endpoint(alone, through), proxy=proxy)
    finally:
        world.worker_state.note_merchant_failure()
        alone.merchant.close_listener(listener_url)


@dataclass(frozen=True, kw_only=True)
class Intercepted:
    """A user at a Resource whose token endpoint is behind the intercepting proxy."""

    alone: IsolatedUser
    proxy: Interceptor

    def saw(self, body: str) -> bool:
        """True if the body of a new request matches this pattern; each request is tested once."""
        return any(re.search(body.encode(), passed.request_body) for passed in self.proxy.passed())


@contextmanager
def behind_an_interceptor(world: World, kept: Kept) -> Iterator[Intercepted]:
    """Puts the intercepting proxy between the gateway and the token endpoint of a new Resource."""
    alone = user_of_movable_resource(world)
    if kept.trust is None:
        raise LeftOut("the gateway trusts only the merchant's own certificate, which [merchant] sets")
    proxy, listener_url, hop = kept.interceptor(), alone.merchant.open_listener(), world.unique()
    try:
        through = by_name(world, proxy.open(hop, by_address(world, listener_url)))
        yield Intercepted(alone=with_token_endpoint(alone, through), proxy=proxy)
    finally:
        world.worker_state.note_merchant_failure()
        proxy.arm()
        proxy.close_hop(hop)
        alone.merchant.close_listener(listener_url)


def user_of_movable_resource(world: World) -> IsolatedUser:
    """A user in a Project to which the run can add a Resource with another token endpoint."""
    alone = isolated_user(world, own=True)
    if not isinstance(world.projects.pool, ControlledProjects):
        raise Unavailable(
            "control:create_resource", "a separate token endpoint needs a Resource that the run creates"
        )
    host = urlsplit(world.merchant_api or "").hostname or ""
    if not is_loopback(host) and not suffix_of(world):
        raise LeftOut("the gateway reaches the merchant only at one address, which [merchant] sets")
    return alone


def with_token_endpoint(alone: IsolatedUser, token_endpoint: str) -> IsolatedUser:
    """The same user at a new Resource of the Project with this token endpoint."""
    world = alone.world
    resource = world.projects.resource(
        indicator=f"https://api.merchant.example/{world.unique()}",
        project=alone.project,
        token_endpoint=token_endpoint,
    )
    project = replace(alone.project, resource=resource)
    return replace(alone, project=project, client_id=resource.merchant_client_id or "")
