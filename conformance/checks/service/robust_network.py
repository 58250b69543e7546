"""Connections that misbehave are nobody else's problem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from gateproof.conformance.checks.service._trouble import OTHER, USER, recovers, works
from gateproof.conformance.faults.agent_side import BROKEN, EMBEDDED, LARGE_BODY, SLOW, Client
from gateproof.conformance.faults.misbehaving import misbehaving
from gateproof.conformance.kit.service.service import Service, served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, require
from gateproof.conformance.suite.fault import Fault, Hop
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import origin
from gateproof.conformance.wire.secret import Secret

# So many connections at a time: more than a handful of workers can be waiting for, and less than a flood.
AT_ONCE = 6
PIECE = 64 * 1024
# Nobody around the service has failed: there is no reason to keep away from anybody.
RECOVERS_S = 10.0
# Once is not enough to see what each broken connection takes along.
ROUNDS = {"abandoned-in-the-body": 3}
JSON = "application/json"


# These come first: what a broken client leaves behind keeps the other checks from beginning at all.
@check("ROBUST-02", needs=["faults"], cases={**BROKEN, **SLOW})
def operation_works_after_misbehaving_clients(service: Service, world: ServiceWorld, case: Client) -> None:
    """Clients that broke off, or broke HTTP, took nothing with them."""
    works(service, world)
    name = next(name for name, client in {**BROKEN, **SLOW}.items() if client is case)
    for _ in range(ROUNDS.get(name, 1)):
        with _at_the_operation(service, world, case) as reached:
            count_fault(_met_by_the_service(case.fault), reached)

    recovers(service, world, RECOVERS_S)


@check("ROBUST-02", needs=["faults"])
def large_body_of_an_operation_is_never_taken_for_requests(service: Service, world: ServiceWorld) -> None:
    """A connection that survives a large body answers what is asked next, and nothing that the body says."""
    works(service, world)
    url = service.request(()).url
    if origin(service.metadata_url) != origin(url):
        raise LeftOut("the metadata are on another host, and nothing else there is for everybody to ask for")
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

    # Who answers at the head of it may be gone before the first piece is out.
    met = len(written) + (first.answer is not None)
    if not met:
        raise LeftOut("the service hangs up on a large body before it has read any of it")
    count_fault(_met_by_the_service(EMBEDDED), met)
    # Closing is what a server may do that does not want to read on.
    expect.that(
        second.answer is None or second.status == 200,
        f"what follows a large body, after {first.outcome()}",
        expected="the answer to the next request, or a close",
        got=second.outcome(),
    )


@check("ROBUST-03", needs=["faults"], cases=SLOW)
def slow_agents_hold_up_nobody_else(service: Service, world: ServiceWorld, case: Client) -> None:
    """While clients hold connections open and get nowhere, the operation goes through."""
    works(service, world)
    _works_for_the_other(service, world)

    with _at_the_operation(service, world, case) as reached:
        count_fault(_met_by_the_service(case.fault), reached)
        _works_beside(service, world, f"operation beside clients, of which each {case.fault.does}")


@contextmanager
def _at_the_operation(service: Service, world: ServiceWorld, client: Client) -> Iterator[int]:
    """Such clients at the operation, each with a good token; gives how many there are."""
    url = service.request(()).url
    place = service.wire.place_of(url)
    assert place is not None  # noqa: S101 - the operation is at the service's own address
    own = (_authorized(service, world), ("Accept", f"{JSON}, text/event-stream"))
    with misbehaving(client, place, url, JSON, number=AT_ONCE, headers=own) as reached:
        service.wire.hang_up()
        yield reached


def _authorized(service: Service, world: ServiceWorld) -> tuple[str, str]:
    token = world.gateway.access_token(USER)
    service.keyring.add(Secret("access_token", token))
    return "Authorization", f"Bearer {token}"


def _works_for_the_other(service: Service, world: ServiceWorld) -> None:
    served(service.serve(world.unseen_token(OTHER)), world.gateway.orders_of(OTHER))


def _works_beside(service: Service, world: ServiceWorld, what: str) -> None:
    """Somebody else's operation succeeds at the first try, on a connection of its own."""
    answer = service.serve(world.unseen_token(OTHER))
    expect.that(
        service.brings(answer, world.gateway.orders_of(OTHER)),
        what,
        expected="the orders",
        got=answer.outcome(),
        exchange=answer,
    )


def _met_by_the_service(fault: Fault) -> Fault:
    return replace(fault, hop=Hop.AGENT_TO_SERVICE)
