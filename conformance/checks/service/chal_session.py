"""A session is no token: who may call is decided anew for every call."""

from __future__ import annotations

from conformance.check import check
from conformance.run.service_world import USERS, ServiceWorld
from conformance.service import Service, challenged, served
from conformance.service_session import session_of


@check("CHAL-01")
def session_of_a_good_token_is_none(service: Service, world: ServiceWorld) -> None:
    """In a session that was begun with a good token, a call without one gets the challenge."""
    gateway = world.gateway
    token = gateway.access_token(USERS[0])
    session = session_of(service, token)
    served(session.call(token), gateway.orders_of(USERS[0]))

    challenged(session.call(None))
