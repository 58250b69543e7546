"""Misbehaving connections do not disturb other clients."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from gateproof.conformance.checks.service._failing_parties import OTHER, USER, expect_recovered, require_works
from gateproof.conformance.faults.agent_side import BROKEN, EMBEDDED, LARGE_BODY, SLOW, Client
from gateproof.conformance.faults.misbehaving import misbehaving
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, require
from gateproof.conformance.suite.fault import Fault, Hop
from gateproof.conformance.suite.time_limits import RECOVERY_S
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import origin
from gateproof.conformance.wire.secret import Secret

# Number of connections at a time: more than a few workers can wait for, and fewer than a flood.
AT_ONCE = 6
PIECE = 64 * 1024
# Repeated, because one broken connection may not be enough to show a leak.
ROUNDS = {"abandoned-in-the-body": 3}
JSON = "application/json"


# These run first: damage by a misbehaving client would prevent the other checks from starting.
@check("ROBUST-02", needs=["faults"], cases={**BROKEN, **SLOW})
def operation_works_after_misbehaving_clients(service: Service, world: ServiceWorld, case: Client) -> None:
    """The operation works after clients that disconnected early or violated HTTP."""
    require_works(service, world)
    name = next(name for name, client in {**BROKEN, **SLOW}.items() if client is case)
    for _ in range(ROUNDS.get(name, 1)):
        with _at_the_operation(service, world, case) as reached:
            count_fault(_met_by_the_service(case.fault), reached)

    expect_recovered(service, world, RECOVERY_S)


@check("ROBUST-02", needs=["faults"])
def large_body_of_an_operation_is_never_taken_for_requests(service: Service, world: ServiceWorld) -> None:
    """After a large body, the connection answers the next request or closes; the body is no request."""
    require_works(service, world)
    url = service.request(()).url
    if origin(service.metadata_url) != origin(url):
        raise LeftOut(
            "the metadata are on another host, and nothing else there can be requested without a token"
        )
    question = Request(method="GET", url=service.metadata_url, headers=(("Accept", JSON),))
    require(service.wire.send("metadata", question)).status(200)
    inside = b"GET /gateproof-embedded HTTP/1.1\r\nHost: service\r\n\r\n"
    large = Request(
        method="POST",
        url=url,
        headers=(("Content-Type", JSON), _authorized(service, world)),
        body=inside * (LARGE_BODY // len(inside)),
    )

    written: list[int] = []
    first, second = service.wire.pipelined(
        "large body, then metadata", [large, question], piece=PIECE, wrote=written.append
    )

    count_fault(_met_by_the_service(EMBEDDED), len(written))
    # A server may close the connection instead of reading the rest.
    expect.that(
        second.answer is None or second.status == 200,
        f"what follows a large body, after {first.outcome()}",
        expected="the answer to the next request, or a close",
        got=second.outcome(),
        exchange=second,
    )


@check("ROBUST-03", needs=["faults"], cases=SLOW)
def slow_agents_hold_up_nobody_else(service: Service, world: ServiceWorld, case: Client) -> None:
    """The operation works while other clients keep slow connections open."""
    require_works(service, world)
    _works_for_the_other(service, world)

    with _at_the_operation(service, world, case) as reached:
        count_fault(_met_by_the_service(case.fault), reached)
        _works_beside(service, world, f"operation beside clients, of which each {case.fault.does}")


@contextmanager
def _at_the_operation(service: Service, world: ServiceWorld, client: Client) -> Iterator[int]:
    """Opens such clients at the operation, each with a good token; returns their number."""
    url = service.request(()).url
    place = service.wire.place_of(url)
    assert place is not None  # noqa: S101 - the operation is at the service's own address
    own = (_authorized(service, world), ("Accept", f"{JSON}, text/event-stream"))
    with misbehaving(client, place, url, JSON, number=AT_ONCE, headers=own) as reached:
        service.wire.close_connections()
        yield reached


def _authorized(service: Service, world: ServiceWorld) -> tuple[str, str]:
    token = world.gateway.access_token(USER)
    service.keyring.add(Secret("access_token", token))
    return "Authorization", f"Bearer {token}"


def _works_for_the_other(service: Service, world: ServiceWorld) -> None:
    require_served(service.serve(world.unseen_token(OTHER)), world.gateway.orders_of(OTHER))


def _works_beside(service: Service, world: ServiceWorld, what: str) -> None:
    """Expects that another user's operation succeeds at the first try, on its own connection."""
    answer = service.serve(world.unseen_token(OTHER))
    expect.that(
        service.returns_orders(answer, world.gateway.orders_of(OTHER)),
        what,
        expected="the orders",
        got=answer.outcome(),
        exchange=answer,
    )


def _met_by_the_service(fault: Fault) -> Fault:
    return replace(fault, hop=Hop.AGENT_TO_SERVICE)
