"""The configuration alone decides which Resource is redeemed, whatever a request names."""

from __future__ import annotations

from gateproof.conformance.checks.service._named import asked_with
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

USER = USERS[0]
_HEADERS = ("X-Resource", "X-Resource-Indicator", "X-Audience", "Resource")
_NAMES = ("resource", "resource_indicator", "resourceIndicator", "audience", "aud")
_ANOTHER = "https://api.other.example/v1"


@check("BACK-04", cases=("header", "query", "message"))
def resource_that_an_agent_names_is_not_redeemed(service: Service, world: ServiceWorld, case: str) -> None:
    """If a request names another Resource, the redemption has the configured Resource indicator all the same.

    A service may ignore or refuse names that it does not know.
    """
    journal, mark = world.gateway.journal, world.gateway.journal.mark()
    require_served(service.serve(world.unseen_token(USER)), world.gateway.orders_of(USER))
    redeemed = bool(journal.since(mark, Endpoint.REDEMPTION))
    require.that(redeemed, "operation of a user who is new", expected="a redemption", got="none")
    for name in _HEADERS if case == "header" else _NAMES:
        mark = journal.mark()
        asked = asked_with(service, world.unseen_token(USER), case, {name: _ANOTHER})
        others = [
            call
            for call in journal.since(mark, Endpoint.REDEMPTION)
            if _resource_in(call) != world.gateway.setup.indicator
        ]
        expect.that(
            not others,
            f"redemption for a request that names another Resource in {asked[0][0]}",
            expected="the configured Resource indicator, or no redemption",
            got=f"resource {_resource_in(others[0])!r}" if others else "",
        )


def _resource_in(call: Call) -> object:
    """The member `resource` of a redemption; None if there is none."""
    body = call.json()
    return body.get("resource") if isinstance(body, dict) else None
