"""Connections that misbehave, and users whose backend is slow, are nobody else's problem."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from conformance.check import check
from conformance.checks.service._trouble import HOP, OTHER, USER, recovers, works
from conformance.claims import LeftOut, expect, fired, require
from conformance.faults.agent_side import BROKEN, EMBEDDED, LARGE_BODY, SLOW, Client
from conformance.faults.fault import Fault, Hop, Layer
from conformance.faults.misbehaving import misbehaving
from conformance.run.service_world import ServiceWorld
from conformance.service import Service, served
from conformance.wire.exchange import Request
from conformance.wire.place import origin
from conformance.wire.secret import Secret
from fakes.gateway.script import Answer, Endpoint

# So many connections at a time: more than a handful of workers can be waiting for, and less than a flood.
AT_ONCE = 6
ARRIVE_WITHIN_S = 10.0
# Soon enough that a call which is given up only after the other answer came is not taken for an earlier one.
NOTICED_WITHIN_S = 0.2
# Whoever is served so much later than usual has waited for something.
LATER_S, TIMES_LATER = 1.0, 3.0
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
            fired(_met_by_the_service(case.fault), reached)

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
    fired(_met_by_the_service(EMBEDDED), met)
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
        fired(_met_by_the_service(case.fault), reached)
        _works_beside(service, world, f"operation beside clients, of which each {case.fault.does}")


@check(
    "ROBUST-03", needs=["faults", "users:2"], cases=(Endpoint.REDEMPTION.value, Endpoint.MERCHANT_API.value)
)
def users_whose_calls_hang_hold_up_nobody_else(service: Service, world: ServiceWorld, case: str) -> None:
    """While the gateway or the merchant says nothing to one user's call, another user is served as usual.

    One call hangs and no more: a service may have two workers, or two connections to the gateway.
    """
    endpoint, gateway = Endpoint(case), world.gateway
    works(service, world)
    begun = time.monotonic()
    _works_for_the_other(service, world)
    late_s = LATER_S + TIMES_LATER * (time.monotonic() - begun)
    token, mark = world.unseen_token(USER), gateway.journal.mark()
    whose = token
    if endpoint is Endpoint.MERCHANT_API:
        whose = gateway.merchant_token(USER)
        gateway.script.always(Endpoint.REDEMPTION, Answer(whose=token, members={"access_token": whose}))
    gateway.script.always(endpoint, Answer(whose=whose, hangs=True))
    caller = threading.Thread(target=service.serve_once, args=(token,))
    caller.start()
    try:
        arrived = _arrived(world, endpoint, mark, whose)
        require.that(arrived > 0, f"calls of {USER}", expected=f"one of the {case} that hangs", got="none")
        fired(_hanging(endpoint), arrived)
        begun = time.monotonic()
        _works_beside(service, world, f"{OTHER}'s operation while the {case} says nothing to {USER}")
        took_s = time.monotonic() - begun
        given_up = 0 if took_s <= late_s else _given_up(world, endpoint, mark)
        expect.that(
            not given_up,
            f"{OTHER}'s operation while the {case} says nothing to {USER}",
            expected=f"an answer before the service has given up on {USER}'s call",
            got=f"one after {took_s:.1f} s, when {given_up} had been given up",
        )
    finally:
        gateway.script.clear()
        caller.join()


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


def _given_up(world: ServiceWorld, endpoint: Endpoint, mark: int) -> int:
    """How many calls the service has hung up on; it may be served on another line before that is noticed."""
    until = time.monotonic() + NOTICED_WITHIN_S
    while True:
        given_up = sum(call.given_up for call in world.gateway.journal.since(mark, endpoint))
        if given_up or time.monotonic() > until:
            return given_up
        time.sleep(0.02)


def _arrived(world: ServiceWorld, endpoint: Endpoint, mark: int, whose: str) -> int:
    until = time.monotonic() + ARRIVE_WITHIN_S
    while True:
        calls = world.gateway.journal.since(mark, endpoint)
        arrived = sum(whose in call.text() for call in calls)
        if arrived or time.monotonic() > until:
            return arrived
        time.sleep(0.02)


def _met_by_the_service(fault: Fault) -> Fault:
    return replace(fault, hop=Hop.AGENT_TO_SERVICE)


def _hanging(endpoint: Endpoint) -> Fault:
    return Fault(
        name=f"{endpoint.value} that keeps one user waiting",
        layer=Layer.HTTP,
        hop=HOP[endpoint],
        does=f"the {endpoint.value} says nothing to one user's calls",
        holds="other users are served as usual",
    )
