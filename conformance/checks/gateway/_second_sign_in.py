"""A signed-in user approves another agent, without a new authentication at the merchant."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import PROVISIONING_S
from gateproof.conformance.wire.route import origin

_ASSERTION_GRANTS = ("jwt-bearer", "token-exchange")


def user_with_two_approvals(world: World, alone: IsolatedUser) -> World:
    """An isolated user's browser that has signed in and approved two agents.

    What the gateway requests from its merchant at the second sign-in is what it will request at the third.
    """
    browser = world.in_one_browser()
    browser.grant(resource=alone.resource, user=alone.user)
    after = failure_oracle.last_of(alone)
    _, visit = another_agent(browser, alone)
    require_code(world.gateway, visit, "authorization of another agent")
    asked = _grants_used(alone, after)
    if not asked:
        raise LeftOut("the gateway sent its merchant no request when another agent was approved")
    if not all(grant.endswith(_ASSERTION_GRANTS) for grant in asked):
        raise LeftOut(
            "the gateway requests more than a token from its merchant when another agent is approved"
        )
    return browser


def another_agent(signed_in: World, alone: IsolatedUser) -> tuple[Attempt, Visit]:
    """The result of the next agent's authorization.

    Left out if the gateway asks its users to sign in again each time: it then needs the merchant, so the
    check proves nothing.
    """
    seen = len(signed_in.seen())
    attempt = signed_in.attempt(signed_in.agents.new(), resource=alone.resource, user=alone.user)
    visit = signed_in.gateway.visit(attempt, wherever=True)
    merchant = origin(signed_in.merchant_api or "")
    if any(origin(exchange.request.url) == merchant for exchange in signed_in.seen()[seen:]):
        raise LeftOut(
            "the gateway asks its users to sign in again for every agent, and needs the merchant for that: "
            "this check is for gateways that keep users signed in"
        )
    return attempt, visit


def _grants_used(alone: IsolatedUser, after: int) -> list[str]:
    """The grant types that the gateway has used for this user since `after`; requests may arrive late."""
    deadline = time.monotonic() + PROVISIONING_S
    while True:
        grants = [entry.grant for entry in alone.journal() if entry.ordinal > after and entry.grant]
        if grants or time.monotonic() > deadline:
            return grants
        wait_for(Cause.REQUEST, 0.05)
