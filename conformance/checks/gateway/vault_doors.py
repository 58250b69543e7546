"""A merchant to whom no connection comes about, or none that proves who it is: it has rejected nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from gateproof.conformance.checks.gateway._second_sign_in import another_agent, at_home
from gateproof.conformance.faults.merchant_answers import DOORS, DoorFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.failure_oracle import Due
from gateproof.conformance.kit.gateway.isolated_user import PROVISIONED_S, IsolatedUser, let_expire
from gateproof.conformance.kit.gateway.proxy_placement import elsewhere, placeable
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.wire.exchange import Exchange

NEEDS = ["faults", "control:create_resource"]
OVER_TLS = {name: door for name, door in DOORS.items() if door.over_tls}


@check("VAULT-06", needs=NEEDS, alone=True, cases=DOORS)
def failed_connection_is_no_rejection(world: World, case: DoorFault) -> None:
    """A merchant that cannot be reached, or does not prove who it is, has not rejected the refresh."""
    with _behind_a_door(world, case) as (alone, door):
        due = failure_oracle.soon_due(alone)
        if not alone.merchant.show(door, case.face):
            raise LeftOut("the gateway asks at another address than the token endpoint that it was told of")
        let_expire(world)

        answer = due.redeem_once()
        visits = alone.merchant.show(door, "open")
        _struck(due, case, answer, visits)
        failure_oracle.answered(answer, case.fault.does)
        failure_oracle.few(visits, failure_oracle.MOST_TRIES, "connections", answer, case.fault.does)
        failure_oracle.no_false_rejection(due, answer, case.fault.does)
        failure_oracle.nothing_expired(due, answer, case.fault.does)
        failure_oracle.redeems_again(due)


@check("VAULT-10", needs=[*NEEDS, "sign-in:browser"], alone=True, cases=OVER_TLS)
def failed_connection_stops_no_sign_in(world: World, case: DoorFault) -> None:
    """A user who is signed in approves another agent while the merchant does not prove who it is."""
    with _behind_a_door(world, case) as (alone, door):
        user = at_home(world, alone)
        if not alone.merchant.show(door, case.face):
            raise LeftOut("the gateway asks at another address than the token endpoint that it was told of")

        after = failure_oracle.last_of(alone)
        attempt, visit = another_agent(user, alone)
        count_fault(case.fault, _visits(alone, door, after))
        code = expect.text(
            visit.parameter("code"), f"code while the merchant {case.fault.does}; {visit.outcome()}"
        )
        expect(world.gateway.exchange(world.authorization_of(attempt, code))).status(200)


@contextmanager
def _behind_a_door(world: World, case: DoorFault) -> Iterator[tuple[IsolatedUser, str]]:
    """A Resource that finds its merchant's token endpoint at an address of its own."""
    alone = placeable(world)
    if case.over_tls and urlsplit(world.merchant_api or "").scheme != "https":
        raise LeftOut("the merchant is reached over plain HTTP, like the target")
    door = alone.merchant.open_door()
    try:
        yield elsewhere(alone, door), door
    finally:
        world.standing.note_trouble()
        alone.merchant.close_door(door)


def _struck(due: Due, case: DoorFault, answer: Exchange, visits: int) -> None:
    """Counts who came. Nobody can at a door that is shut: but whoever could refresh has not met it."""
    refreshed = bool(due.refreshes())
    if visits and case.over_tls and any(entry.status == 200 for entry in due.refreshes()):
        raise LeftOut("the gateway went past that certificate, so there was no trouble to get over")
    if case.over_tls and not visits and not refreshed:
        raise LeftOut("the gateway did not come to the token endpoint when the merchant token was due")
    if not case.over_tls and answer.status == 200 and not refreshed:
        raise LeftOut("the gateway answered from what it had when the merchant token was due")
    count_fault(case.fault, visits if case.over_tls else int(not refreshed))


def _visits(alone: IsolatedUser, door: str, after: int) -> int:
    """How many came to see what the door shows; what goes on in the background may come later."""

    def answered() -> bool:
        return any(entry.outcome and entry.ordinal > after for entry in alone.journal())

    deadline = time.monotonic() + PROVISIONED_S
    while not alone.merchant.visits(door) and not answered():
        if time.monotonic() > deadline:
            raise LeftOut("the gateway asked its merchant for nothing when another agent was approved")
        time.sleep(0.05)
    visits = alone.merchant.visits(door)
    if visits and answered():
        raise LeftOut("the gateway went past that certificate, so there was no trouble to get over")
    return visits
