"""A user who is signed in already approves another agent, for which nobody asks the merchant who it is."""

from __future__ import annotations

from conformance.claims import LeftOut
from conformance.gateway import Visit
from conformance.parties import Attempt
from conformance.seclusion import Seclusion
from conformance.wire.place import origin
from conformance.world import World


def at_home(world: World, alone: Seclusion) -> World:
    """The same in a browser whose user has signed in, and approved one agent."""
    browser = world.in_one_browser()
    browser.grant(resource=alone.resource, user=alone.user)
    return browser


def another_agent(at_home: World, alone: Seclusion) -> tuple[Attempt, Visit]:
    """What came of the next agent's authorization.

    A gateway that signs its users in anew each time needs the merchant for that, and proves nothing here.
    """
    seen = len(at_home.seen())
    attempt = at_home.attempt(at_home.agent(), resource=alone.resource, user=alone.user)
    visit = at_home.gateway.visit(attempt, wherever=True)
    merchant = origin(at_home.merchant_api or "")
    if any(origin(exchange.request.url) == merchant for exchange in at_home.seen()[seen:]):
        raise LeftOut("the gateway signs its users in anew for every agent")
    return attempt, visit
