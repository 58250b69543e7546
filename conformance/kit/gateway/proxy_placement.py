"""Puts a proxy in front of the merchant's token endpoint, for one Resource."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from gateproof.conformance.faults.byte_proxy import ByteProxy, byte_proxy
from gateproof.conformance.faults.intercept.interceptor import Interceptor
from gateproof.conformance.faults.intercept.kept import Kept
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user
from gateproof.conformance.kit.gateway.movable_resources import MovableResource
from gateproof.conformance.kit.gateway.own_names import by_address, by_name, suffix_of
from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, Unavailable, require
from gateproof.conformance.wire.ports import kept_port
from gateproof.fakes.merchant.admin import MerchantAdmin, MerchantAdminError
from gateproof.fakes.serving import is_loopback

LOOPBACK = "127.0.0.1"


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
    """Puts a byte-level proxy between the gateway and the token endpoint of a Resource."""
    alone, place = user_of_movable_resource(world, "behind a proxy", proxied=True)
    at = urlsplit(by_address(world, place.listener_id))
    try:
        with byte_proxy((at.hostname or "", at.port or 0), at=(LOOPBACK, place.port)) as proxy:
            yield ProxiedUser(alone=alone, proxy=proxy)
    finally:
        world.worker_state.note_merchant_failure()


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
    alone = _user_beside_new_resources(world)
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


def user_of_movable_resource(
    world: World, kind: str, *, proxied: bool = False
) -> tuple[IsolatedUser, MovableResource]:
    """A new user at a Resource whose token endpoint has its own address, which only checks of this kind use.

    It is that of a listener of the merchant; if `proxied`, that of a proxy which the check starts.
    """
    alone = _user_beside_new_resources(world)

    def make() -> MovableResource:
        closing, listener_id = world.worker_state.movable.closing, alone.merchant.open_listener()
        closing.callback(_close_listener, alone.merchant, listener_id)
        address, port = listener_id, 0
        if proxied:
            port = kept_port(closing)
            address = by_name(world, urlsplit(listener_id)._replace(netloc=f"{LOOPBACK}:{port}").geturl())
        project = with_token_endpoint(alone, address).project
        return MovableResource(project=project, listener_id=listener_id, port=port)

    # A user of the target file may have been there before.
    given = world.projects.pool.only_given_users()
    place = make() if given else world.worker_state.movable.next(kind, make)
    world.projects.name(place.project)
    client_id = place.project.resource.merchant_client_id or ""
    return replace(alone, project=place.project, client_id=client_id), place


def _close_listener(merchant: MerchantAdmin, listener_id: str) -> None:
    with suppress(MerchantAdminError):
        merchant.close_listener(listener_id)


def _user_beside_new_resources(world: World) -> IsolatedUser:
    """A user in a Project to which the run can add a Resource with another token endpoint."""
    alone = isolated_user(world, "troubled")
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
