"""Network faults between gateway and merchant must not be treated as a rejection."""

from __future__ import annotations

import time

from gateproof.conformance.checks.gateway._second_sign_in import another_agent, user_with_two_approvals
from gateproof.conformance.faults import network
from gateproof.conformance.faults.network import NetworkFault
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import let_expire
from gateproof.conformance.kit.gateway.proxy_placement import ProxiedUser, behind_a_proxy
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S

NEEDS = ["faults", "control:create_resource"]


@check("VAULT-06", needs=NEEDS, alone=True, cases={**network.LOST, **network.SLOW})
def network_between_is_no_rejection(world: World, case: NetworkFault) -> None:
    """A refresh whose answer was lost or late causes no 410, and redemption works afterwards."""
    with behind_a_proxy(world) as behind:
        due = failure_oracle.expiring_soon(behind.alone)
        behind.require_used()
        before = case.arm(behind.proxy)
        let_expire(world)

        answer = due.redeem_once()
        _fault_count(behind, case, before)
        made = behind.proxy.connections - before
        failure_oracle.expect_answered(answer, case.fault.does)
        failure_oracle.expect_few(made, failure_oracle.MOST_TRIES, "connections", answer, case.fault.does)
        failure_oracle.no_false_rejection(due, answer, case.fault.does)
        failure_oracle.expect_not_expired(due, answer, case.fault.does)
        behind.proxy.arm()
        failure_oracle.redeems_again(due)


@check("VAULT-10", needs=[*NEEDS, "sign-in:browser"], cases={**network.LOST, **network.SLOW})
def network_between_stops_no_sign_in(world: World, case: NetworkFault) -> None:
    """A signed-in user gets a code for another agent while the network to the merchant fails.

    The first sign-in has no fault.
    """
    with behind_a_proxy(world) as behind:
        user = user_with_two_approvals(world, behind.alone)
        behind.require_used()
        before = case.arm(behind.proxy)

        attempt, visit = another_agent(user, behind.alone)
        _fault_count(behind, case, before)
        code = expect.text(
            visit.parameter("code"), f"code while the merchant {case.fault.does}; {visit.outcome()}"
        )
        expect(world.gateway.exchange(world.authorization_of(attempt, code))).status(200)


def _fault_count(behind: ProxiedUser, case: NetworkFault, before: int) -> None:
    """Counts the connections that the fault affected; background requests may arrive later."""
    deadline = time.monotonic() + PROVISIONING_S
    while not (struck := case.struck(behind.proxy)) and time.monotonic() < deadline:
        wait_for(Cause.REQUEST, 0.05)
    if behind.proxy.connections == before:
        raise LeftOut("the gateway sent the merchant no request when the merchant token had expired")
    count_fault(case.fault, struck)
