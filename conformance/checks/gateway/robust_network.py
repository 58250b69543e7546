"""Misbehaving clients and connections do not disturb other clients, and have no lasting effect."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from gateproof.conformance.checks.gateway._normal_flow import works_again, works_before, works_during
from gateproof.conformance.faults.agent_side import (
    BROKEN,
    CLIENT_DISCONNECTED,
    EMBEDDED,
    LARGE_BODY,
    SLOW,
    Client,
)
from gateproof.conformance.faults.merchant_answers import MERCHANT_DELAYS
from gateproof.conformance.faults.misbehaving import misbehaving, send_and_disconnect
from gateproof.conformance.kit.gateway.failure_oracle import (
    REFRESH,
    ExpiringToken,
    expiring_soon,
    no_false_rejection,
    redeem_after_fault,
    redeem_after_new_authorization,
    redeem_or_require_410,
)
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user, let_expire
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, NoOverlap, count_fault, expect, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire import agent as agent_wire
from gateproof.conformance.wire.exchange import Request
from gateproof.conformance.wire.route import Place
from gateproof.conformance.wire.stopwatch import Stopwatch

# Number of connections at each endpoint: more than a few, less than a flood.
AT_ONCE = 4
# Large enough for a whole head and the beginning of a body.
PIECE = 64 * 1024
# If a flow takes longer than TIMES_LATER times the usual time plus LATER_S in TIMES_HELD_UP tries in a row,
# it waited for the merchant.
LATER_S, TIMES_LATER, TIMES_HELD_UP = 1.0, 1.25, 3
# If the flow takes SLOW_S alone, or A_LITTLE_S more than alone, a try that is not slower is ignored.
SLOW_S, A_LITTLE_S, MOST_TRIES = 1.5, 0.5, 6
# How long a gateway has to notice that its client has disconnected.
NOTICED_S = 0.5
# How long a redemption may take to reach the merchant.
REACHED_S = 5.0
# Repeated, because one broken connection may not be enough to see a leak.
ROUNDS = {"abandoned-in-the-body": 3}


# These checks come first: after damage by a broken client, the preconditions of the others would fail.
@check("ROBUST-02", needs=["faults"], alone=True, cases={**BROKEN, **SLOW})
def normal_flow_works_after_misbehaving_clients(gateway: Gateway, world: World, case: Client) -> None:
    """The normal flow works after clients that disconnected early or violated HTTP."""
    works_before(world)

    name = next(name for name, client in {**BROKEN, **SLOW}.items() if client is case)
    for _ in range(ROUNDS.get(name, 1)):
        with _at_both_endpoints(gateway, case) as reached:
            count_fault(case.fault, reached)

    works_again(world)


@check("ROBUST-02", needs=["faults", "merchant"], alone=True)
def caller_who_left_takes_no_refresh_along(gateway: Gateway, world: World) -> None:
    """After a backend disconnects during a refresh, redemption works, at the latest after a sign-in.

    The merchant rotates refresh tokens. A gateway that then cancels its own request loses the new token. It
    may answer 410 once the merchant has rejected the old one; the user's next authorization must repair that.
    """
    works_before(world)
    alone, gate = isolated_user(world, own=True), world.unique()
    due = expiring_soon(alone)
    alone.short_lived(refresh={"outcome": "hold", "gate": gate}, rotate_refresh_tokens=True)
    let_expire(world)
    try:
        with send_and_disconnect(_place(gateway, gateway.base_url), due.request(), number=1) as sent:
            count_fault(CLIENT_DISCONNECTED, _held_calls(world, gate) if sent else 0)
        _wait_until_noticed(alone)
    finally:
        alone.merchant.release(gate)

    after = redeem_or_require_410(due)
    no_false_rejection(due, after, CLIENT_DISCONNECTED.does)
    if after.status == 410:
        expect(redeem_after_new_authorization(due)).status(200)


@check("ROBUST-02", needs=["faults"], alone=True)
def large_body_is_never_taken_for_requests(gateway: Gateway, world: World) -> None:
    """After a large body, the gateway answers the next request or closes; it reads no request in the body."""
    works_before(world)
    resource = world.projects.home().resource
    question = agent_wire.get(agent_wire.discovery_url(gateway.base_url, resource.id))
    require(gateway.wire.send("discovery", question)).status(200)
    inside = b"GET /gateproof-embedded HTTP/1.1\r\nHost: gateway\r\n\r\n"
    large = Request(
        method="POST",
        url=agent_wire.registration_endpoint(gateway.base_url),
        headers=(agent_wire.JSON_BODY,),
        body=inside * (LARGE_BODY // len(inside)),
    )

    written: list[int] = []
    first, second = gateway.wire.pipelined(
        "large body, then discovery", [large, question], piece=PIECE, wrote=written.append
    )

    count_fault(EMBEDDED, len(written))
    # A server that does not want to read the rest may close the connection.
    expect.that(
        second.answer is None or second.status == 200,
        f"what follows a large body, after {first.outcome()}",
        expected="the answer to the next request, or a close",
        got=second.outcome(),
        exchange=second,
    )


@check("ROBUST-03", needs=["faults"], alone=True, cases=SLOW)
def slow_connections_hold_up_nobody_else(gateway: Gateway, world: World, case: Client) -> None:
    """The normal flow works while other clients keep slow connections open."""
    works_before(world)

    with _at_both_endpoints(gateway, case) as reached:
        count_fault(case.fault, reached)
        works_during(world)


@check("ROBUST-03", needs=["faults", "merchant", "users:2"], alone=True)
def slow_merchant_of_one_user_holds_up_nobody_else(gateway: Gateway, world: World) -> None:
    """A merchant that is silent for one user's redemption does not delay another user's flow.

    Only one caller waits, because a gateway may have few workers or merchant connections; with a single
    worker, the part is left out. A busy machine may also delay the other user, but not each time until the
    gateway has given up its call.
    """
    late_s = list[float]()
    for _ in range(MOST_TRIES):
        beside = _timing_beside_a_slow_merchant(gateway, world)
        if beside.is_unclear():
            continue
        late_s = [*late_s, beside.took_s] if beside.is_late() else []
        if not late_s or len(late_s) == TIMES_HELD_UP:
            break
    else:
        raise NoOverlap(
            f"the normal flow takes {beside.usual_s:.1f} s by itself, too long or too differently each time "
            "to tell whether the merchant's silence makes it longer"
        )

    expect.that(
        not late_s,
        "another user's normal flow while the merchant says nothing to one user",
        expected="an end before the gateway has given up on that user's call",
        got=f"one after {', '.join(f'{each:.1f} s' for each in late_s)}, and each time it had given up",
    )


@dataclass(frozen=True, kw_only=True)
class _Timing:
    """The duration of a flow alone and during another user's call, and whether that call was given up."""

    usual_s: float
    took_s: float
    given_up: bool

    def is_late(self) -> bool:
        return self.given_up and self.took_s > TIMES_LATER * self.usual_s + LATER_S

    def is_unclear(self) -> bool:
        """True if the flow is slow by itself or only a little late: it may have waited or not."""
        slow = self.usual_s > SLOW_S or self.took_s > self.usual_s + A_LITTLE_S
        return self.given_up and not self.is_late() and slow


def _timing_beside_a_slow_merchant(gateway: Gateway, world: World) -> _Timing:
    """Another user's flow, alone and then while the merchant is silent for one user."""
    other = world.users[1]
    gateway.wire.close_connections()
    watch = Stopwatch(gateway.wire)
    works_before(world, other)
    usual_s = watch.so_far_s()
    alone, gate = isolated_user(world, own=True), world.unique()
    due = expiring_soon(alone)
    alone.short_lived(refresh={"outcome": "hold", "gate": gate})
    let_expire(world)
    try:
        with send_and_disconnect(_place(gateway, gateway.base_url), due.request(), number=1) as sent:
            count_fault(MERCHANT_DELAYS, _held_calls(world, gate) if sent else 0)
            _require_second_worker(gateway, due)
            gateway.wire.close_connections()
            watch = Stopwatch(gateway.wire)
            works_during(world, other)
            took_s = watch.so_far_s()
            # The merchant notices a little later that the gateway has given up.
            wait_for(Cause.REQUEST, A_LITTLE_S)
            given_up = _is_given_up(due)
    finally:
        alone.merchant.release(gate)
    require(redeem_after_fault(due)).status(200, 410)
    return _Timing(usual_s=usual_s, took_s=took_s, given_up=given_up)


def _require_second_worker(gateway: Gateway, due: ExpiringToken) -> None:
    """Leaves out a gateway that serves nobody at all while it waits for the merchant."""
    gateway.wire.close_connections()
    answer = gateway.discovery(due.grant.resource)
    if answer.answer is None or _is_given_up(due):
        raise LeftOut("the gateway serves one request at a time: even its discovery waits for the merchant")


def _is_given_up(due: ExpiringToken) -> bool:
    """True if the merchant has noticed that the gateway closed its request."""
    return any(call.status is not None for call in due.refreshes())


@contextmanager
def _at_both_endpoints(gateway: Gateway, client: Client) -> Iterator[int]:
    """Opens such clients at the registration and token endpoints; returns their number."""
    places = {
        agent_wire.registration_endpoint(gateway.base_url): agent_wire.JSON_BODY[1],
        agent_wire.token_endpoint(gateway.core_url): agent_wire.FORM_BODY[1],
    }
    reached = 0
    with ExitStack() as stack:
        for url, media_type in places.items():
            clients = misbehaving(client, _place(gateway, url), url, media_type, number=AT_ONCE)
            reached += stack.enter_context(clients)
        gateway.wire.close_connections()
        yield reached


def _place(gateway: Gateway, url: str) -> Place:
    place = gateway.wire.place_of(url)
    require.that(place is not None, "endpoint", expected="an address of the target", got=url)
    assert place is not None  # noqa: S101 - required above
    return place


def _wait_until_noticed(alone: IsolatedUser) -> None:
    """Gives the gateway time to notice the disconnected caller, and perhaps to cancel its own request."""
    deadline = time.monotonic() + NOTICED_S
    while time.monotonic() < deadline and all(entry.status is None for entry in alone.asked(REFRESH)):
        wait_for(Cause.REQUEST, 0.05)


def _held_calls(world: World, gate: str) -> int:
    """The number of calls that the merchant holds; a gateway that does not refresh here cannot be delayed."""
    deadline = time.monotonic() + REACHED_S
    while world.merchant is not None and time.monotonic() < deadline:
        if arrived := world.merchant.arrived(gate):
            return arrived
        wait_for(Cause.REQUEST, 0.05)
    raise LeftOut("the gateway does not ask the merchant to refresh a token that has expired")
