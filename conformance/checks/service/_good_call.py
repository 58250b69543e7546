"""A working call of the operation, of which checks change one part."""

from __future__ import annotations

from gateproof.conformance.kit.service.mcp_session import ServiceSession, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.wire.exchange import Request


def require_works(service: Service, world: ServiceWorld) -> None:
    gateway = world.gateway
    require_served(service.serve(gateway.access_token(USERS[0])), gateway.orders_of(USERS[0]))


def good_call(service: Service, world: ServiceWorld) -> tuple[Request, ServiceSession | None]:
    """The request of the operation with a good token; over MCP in a session, which servers require."""
    gateway = world.gateway
    require_works(service, world)
    token = gateway.access_token(USERS[0])
    if service.operation.kind != "mcp":
        return service.request((("Authorization", f"Bearer {token}"),)), None
    session = session_of(service, token)
    require_served(session.call(token), gateway.orders_of(USERS[0]))
    return session.lone_call(token), session
