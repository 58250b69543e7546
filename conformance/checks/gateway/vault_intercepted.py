"""Merchant answers lost or changed by an intercepting proxy must not be treated as a rejection."""

from __future__ import annotations

import time
from dataclasses import replace

from gateproof.conformance.faults import http_between
from gateproof.conformance.faults.http_between import HttpFault
from gateproof.conformance.faults.intercept.kept import Kept
from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.isolated_user import let_expire
from gateproof.conformance.kit.gateway.proxy_placement import Intercepted, behind_an_interceptor
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S

NEEDS = ["faults", "control:create_resource", "intercepting-proxy"]


@check("VAULT-06", needs=NEEDS, alone=True, cases=http_between.LOST)
def intercepted_refresh_is_no_rejection(world: World, intercept: Kept, case: HttpFault) -> None:
    """A refresh whose answer was lost or changed causes no 410, and redemption works afterwards."""
    with behind_an_interceptor(world, intercept) as between:
        due = failure_oracle.expiring_soon(between.alone)
        between.proxy.arm(replace(case.rule, body=http_between.REFRESH))
        let_expire(world)

        answer = due.redeem_once()
        _fault_count(between, case, http_between.REFRESH)
        tries = between.proxy.fired(case.rule)
        failure_oracle.expect_answered(answer, case.fault.does)
        failure_oracle.expect_few(tries, failure_oracle.MOST_TRIES, "refreshes", answer, case.fault.does)
        failure_oracle.no_false_rejection(due, answer, case.fault.does)
        failure_oracle.expect_not_expired(due, answer, case.fault.does)
        between.proxy.arm()
        failure_oracle.redeems_again(due)


@check("VAULT-10", needs=NEEDS, alone=True, cases={**http_between.LOST, **http_between.ALTERED})
def intercepted_provisioning_stops_no_sign_in(world: World, intercept: Kept, case: HttpFault) -> None:
    """A signed-in user gets a code for another agent although the merchant's answer is lost or changed."""
    world.grant()
    with behind_an_interceptor(world, intercept) as between:
        alone = between.alone
        between.proxy.arm(replace(case.rule, body=http_between.PROVISIONING))
        attempt = world.attempt(resource=alone.resource, user=alone.user)

        visit = world.gateway.visit(attempt, wherever=True)
        _fault_count(between, case, http_between.PROVISIONING)
        code = expect.text(
            visit.parameter("code"), f"code while the merchant {case.fault.does}; {visit.outcome()}"
        )
        expect(world.gateway.exchange(world.authorization_of(attempt, code))).status(200)


def _fault_count(between: Intercepted, case: HttpFault, meant: str) -> None:
    """Counts the exchanges that the fault affected; background requests may arrive later."""
    deadline = time.monotonic() + PROVISIONING_S
    while not (struck := between.proxy.fired(case.rule)) and time.monotonic() < deadline:
        wait_for(Cause.REQUEST, 0.05)
    if not struck and not between.saw(meant):
        raise LeftOut("the gateway gets merchant tokens by another request")
    count_fault(case.fault, struck)
