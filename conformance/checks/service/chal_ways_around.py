"""The operation by other methods, other spellings of its path, and other messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.checks.service._failing_parties import shows_orders
from gateproof.conformance.checks.service._ways_around import (
    ANOTHER_WAY,
    WAYS,
    bring_no_orders,
    other_ways,
    over_http,
    session_with_orders,
)
from gateproof.conformance.kit.service.mcp_session import LISTS
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.keys import new_key, signed


@check("CHAL-01", cases=WAYS)
def no_way_around_the_challenge_brings_orders(
    service: Service, world: ServiceWorld, case: Callable[[Request], Iterator[Request]]
) -> None:
    """Without a token, no method and no spelling of the path shows a user's orders."""
    if service.operation.kind == "mcp":
        raise LeftOut("the operation is an MCP tool, which has one method; other checks test it")
    good_token(service, world)
    own = service.request(())
    others = (each for each in case(own) if (each.method, each.url) != (own.method, own.url))

    bring_no_orders(world, (service.wire.send(ANOTHER_WAY, request) for request in others))


@check("CHAL-04", cases=WAYS)
def no_way_around_takes_a_forged_token(
    service: Service, world: ServiceWorld, case: Callable[[Request], Iterator[Request]]
) -> None:
    """A token under an unknown key shows no orders by any method or spelling of the path.

    Redemption would accept it, so a service that checks tokens on one path only is detected. A service that
    limits bad tokens may ask its caller to wait.
    """
    if service.operation.kind == "mcp":
        raise LeftOut("the operation is an MCP tool, which has one method; other checks test it")
    good_token(service, world)
    forged = _forged(service, world)
    own = service.request((("Authorization", f"Bearer {forged}"),))

    # The protected path is one of the requests, and comes first.
    bring_no_orders(
        world,
        (service.wire.send_once(ANOTHER_WAY, request) for request in (own, *case(own))),
        with_what="with a forged token",
    )


@check("CHAL-01")
def no_way_into_a_session_brings_orders(service: Service, world: ServiceWorld) -> None:
    """Without a token, a tool call shows no orders by any method or spelling of the path.

    The call is made in a session started with a good token, and without a session.
    """
    session = session_with_orders(service, world, world.gateway.access_token(USER))
    ways = (
        *other_ways(session, None),
        *other_ways(session.without_id(), None),
        *over_http(session, None),
    )

    bring_no_orders(world, (service.wire.send(ANOTHER_WAY, request) for request in ways))


@check("CHAL-04")
def no_way_into_a_session_takes_a_forged_token(service: Service, world: ServiceWorld) -> None:
    """A tool call with a token under an unknown key shows no orders by any method or spelling of the path.

    The call is made in a session started with a good token, and without a session. Redemption would accept
    the token.
    """
    session = session_with_orders(service, world, world.gateway.access_token(USER))
    forged = _forged(service, world)
    own = (session.lone_call(forged), session.without_id().lone_call(forged))
    elsewhere = (*other_ways(session, forged), *other_ways(session.without_id(), forged))
    ways = (*own, *elsewhere, *over_http(session, forged))

    bring_no_orders(
        world,
        (service.wire.send_once(ANOTHER_WAY, request) for request in ways),
        with_what="with a forged token",
    )


@check("CHAL-01")
def no_batch_brings_orders(service: Service, world: ServiceWorld) -> None:
    """Without a token, a batch with a tool call shows no orders, with and without a session.

    Only some versions of MCP have batches.
    """
    token = world.gateway.access_token(USER)
    sessions = tuple(session_with_orders(service, world, token).in_each_version())
    batches = (each.batch(None) for own in sessions for each in (own, own.without_id()))

    bring_no_orders(world, (service.wire.send(ANOTHER_WAY, request) for request in batches))
    answers = (service.wire.send("operation in a batch", each.batch(token)) for each in sessions)
    if not any(shows_orders(answer, world, USER) for answer in answers):
        raise LeftOut("the server accepts no tool call in a batch, not even with a good token")


@check("CHAL-01")
def what_a_server_offers_besides_is_not_for_everybody(service: Service, world: ServiceWorld) -> None:
    """Without a token, no list, resource or prompt of an MCP server shows a user's orders."""
    token = world.gateway.access_token(USER)
    answers = tuple(session_with_orders(service, world, token).offered_without_token(token))

    bring_no_orders(world, answers)
    if len(answers) == len(LISTS):
        raise LeftOut("the server lists no resource and no prompt, not even with a good token")


def _forged(service: Service, world: ServiceWorld) -> str:
    """A token under an unknown key, which redemption accepts."""
    gateway = world.gateway
    forged = signed(gateway.claims(USER), new_key(gateway.core_key.algorithm), kid=gateway.core_key.kid)
    service.keyring.add(Secret("access_token", forged))
    gateway.let_redeem(forged, USER)
    return forged
