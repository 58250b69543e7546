"""An unreachable merchant or a bad certificate must not be treated as a rejection."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from gateproof.conformance.checks.gateway._second_sign_in import another_agent, user_with_two_approvals
from gateproof.conformance.faults.merchant_answers import LISTENER_FAULTS, ListenerFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.failure_oracle import ExpiringToken
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, let_expire
from gateproof.conformance.kit.gateway.proxy_placement import user_of_movable_resource, with_token_endpoint
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.wire.exchange import Exchange

NEEDS = ["faults", "control:create_resource"]
OVER_TLS = {name: fault for name, fault in LISTENER_FAULTS.items() if fault.over_tls}


@check("VAULT-06", needs=NEEDS, alone=True, cases=LISTENER_FAULTS)
def failed_connection_is_no_rejection(world: World, case: ListenerFault) -> None:
    """If the connection to the merchant fails, there is no 410, and redemption works afterwards."""
    with _behind_a_listener(world, case) as (alone, listener_id):
        due = failure_oracle.expiring_soon(alone)
        if not alone.merchant.switch_listener(listener_id, case.face):
            raise LeftOut("the gateway uses another address than the token endpoint that was configured")
        let_expire(world)

        answer = due.redeem_once()
        visits = alone.merchant.switch_listener(listener_id, "open")
        _count_fault(due, case, answer, visits)
        failure_oracle.expect_answered(answer, case.fault.does)
        failure_oracle.expect_few(visits, failure_oracle.MOST_TRIES, "connections", answer, case.fault.does)
        failure_oracle.no_false_rejection(due, answer, case.fault.does)
        failure_oracle.expect_not_expired(due, answer, case.fault.does)
        failure_oracle.redeems_again(due)


@check("VAULT-10", needs=[*NEEDS, "sign-in:browser"], alone=True, cases=OVER_TLS)
def failed_connection_stops_no_sign_in(world: World, case: ListenerFault) -> None:
    """A signed-in user gets a code for another agent while the connection to the merchant fails."""
    with _behind_a_listener(world, case) as (alone, listener_id):
        user = user_with_two_approvals(world, alone)
        if not alone.merchant.switch_listener(listener_id, case.face):
            raise LeftOut("the gateway uses another address than the token endpoint that was configured")

        after = failure_oracle.last_of(alone)
        attempt, visit = another_agent(user, alone)
        count_fault(case.fault, _connection_count(alone, listener_id, after))
        code = expect.text(
            visit.parameter("code"), f"code while the merchant {case.fault.does}; {visit.outcome()}"
        )
        expect(world.gateway.exchange(world.authorization_of(attempt, code))).status(200)


@contextmanager
def _behind_a_listener(world: World, case: ListenerFault) -> Iterator[tuple[IsolatedUser, str]]:
    """A Resource whose merchant token endpoint has its own address, behind a listener."""
    alone = user_of_movable_resource(world)
    if case.over_tls and urlsplit(world.merchant_api or "").scheme != "https":
        raise LeftOut("the merchant is reached over plain HTTP, like the target")
    listener_id = alone.merchant.open_listener()
    try:
        yield with_token_endpoint(alone, listener_id), listener_id
    finally:
        world.worker_state.note_merchant_failure()
        alone.merchant.close_listener(listener_id)


def _count_fault(due: ExpiringToken, case: ListenerFault, answer: Exchange, visits: int) -> None:
    """Counts the connections during the fault.

    A closed listener sees no connection: there the fault counts if the gateway could not refresh.
    """
    refreshed = bool(due.refreshes())
    if visits and case.over_tls and any(entry.status == 200 for entry in due.refreshes()):
        raise LeftOut("the gateway accepted that certificate, so there was no fault")
    if case.over_tls and not visits and not refreshed:
        raise LeftOut("the gateway did not connect to the token endpoint when the merchant token had expired")
    if not case.over_tls and answer.status == 200 and not refreshed:
        raise LeftOut("the gateway answered from its cache when the merchant token had expired")
    count_fault(case.fault, visits if case.over_tls else int(not refreshed))


def _connection_count(alone: IsolatedUser, listener_id: str, after: int) -> int:
    """The number of connections to the faulty listener; background requests may arrive later."""

    def answered() -> bool:
        return any(entry.outcome and entry.ordinal > after for entry in alone.journal())

    deadline = time.monotonic() + PROVISIONING_S
    while not alone.merchant.connections(listener_id) and not answered():
        if time.monotonic() > deadline:
            raise LeftOut("the gateway sent its merchant no request when another agent was approved")
        wait_for(Cause.REQUEST, 0.05)
    visits = alone.merchant.connections(listener_id)
    if visits and answered():
        raise LeftOut("the gateway accepted that certificate, so there was no fault")
    return visits
