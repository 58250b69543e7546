"""A user who is signed in already approves another agent, for which nobody asks the merchant who it is."""

from __future__ import annotations

import time

from gateproof.conformance.kit.gateway import failure_oracle
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.isolated_user import PROVISIONED_S, IsolatedUser
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import LeftOut, require
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.route import origin

_VOUCHING = ("jwt-bearer", "token-exchange")


def at_home(world: World, alone: IsolatedUser) -> World:
    """The same in a browser whose user has signed in, and approved an agent, and another one.

    What the gateway asks its merchant for the second time is what it will ask the third time.
    """
    browser = world.in_one_browser()
    browser.grant(resource=alone.resource, user=alone.user)
    after = failure_oracle.last_of(alone)
    _, visit = another_agent(browser, alone)
    require.text(visit.parameter("code"), f"code of another agent's authorization; {visit.outcome()}")
    asked = _asked(alone, after)
    if not asked:
        raise LeftOut("the gateway asked its merchant for nothing when another agent was approved")
    if not all(grant.endswith(_VOUCHING) for grant in asked):
        raise LeftOut("the gateway asks its merchant for more than a token when another agent is approved")
    return browser


def another_agent(at_home: World, alone: IsolatedUser) -> tuple[Attempt, Visit]:
    """What came of the next agent's authorization.

    A gateway that signs its users in anew each time needs the merchant for that, and proves nothing here.
    """
    seen = len(at_home.seen())
    attempt = at_home.attempt(at_home.agents.new(), resource=alone.resource, user=alone.user)
    visit = at_home.gateway.visit(attempt, wherever=True)
    merchant = origin(at_home.merchant_api or "")
    if any(origin(exchange.request.url) == merchant for exchange in at_home.seen()[seen:]):
        raise LeftOut("the gateway signs its users in anew for every agent")
    return attempt, visit


def _asked(alone: IsolatedUser, after: int) -> list[str]:
    """The grants that the gateway used for this user since then; some of it may come late."""
    deadline = time.monotonic() + PROVISIONED_S
    while True:
        grants = [entry.grant for entry in alone.journal() if entry.ordinal > after and entry.grant]
        if grants or time.monotonic() > deadline:
            return grants
        time.sleep(0.05)
