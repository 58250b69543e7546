"""Whose session it is says nothing of whose call it is."""

from __future__ import annotations

from conformance.check import check
from conformance.checks.service._trouble import OTHER, USER, shows_orders
from conformance.claims import expect
from conformance.run.service_world import ServiceWorld
from conformance.service import Service, served
from conformance.service_session import session_of


@check("BACK-10")
def session_of_one_user_brings_nothing_to_another(service: Service, world: ServiceWorld) -> None:
    """A call with another user's token, in a session that one user began, never brings that one's orders."""
    gateway = world.gateway
    token, another = gateway.access_token(USER), gateway.access_token(OTHER)
    session = session_of(service, token)
    served(session.call(token), gateway.orders_of(USER))
    answer = session.call(another)

    expect.that(
        not shows_orders(answer, world, USER),
        f"a call of {OTHER} in a session of {USER}",
        expected=f"the orders of {OTHER}, or a refusal",
        got=f"orders of {USER}",
        exchange=answer,
    )
