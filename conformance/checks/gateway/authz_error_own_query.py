"""Error redirects to a redirect URI that has a query of its own."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._error_redirects import STATE, has_error_and_state
from gateproof.conformance.checks.gateway._faulty_requests import REFUSED, Change
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.addresses import without_query
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt

_OWN = ("tenant", "1")


@check("AUTHZ-24", needs=["sign-in:browser"], cases=REFUSED)
def error_redirect_keeps_the_query_of_the_redirect_uri(world: World, case: Change) -> None:
    """An error redirect to a URI with a query of its own has that query, `error` and `state`."""
    here, attempt = _with_a_query(world)
    visit = here.gateway.visit(attempt, pairs=case(list(attempt.parameters.items())), wherever=True)

    _has_all(attempt, visit)


@check("AUTHZ-24", needs=["sign-in:decline"])
def redirect_of_a_user_who_declines_keeps_the_query(world: World) -> None:
    """The same after the user declines."""
    here, attempt = _with_a_query(world)
    visit = here.gateway.visit(attempt, approve=False, wherever=True)

    _has_all(attempt, visit)


def _with_a_query(world: World) -> tuple[World, Attempt]:
    """A request of an agent whose redirect URI has a query; the same request has given a code before."""
    here = world.in_one_browser()
    name, value = _OWN
    agent = here.agents.new_if_accepted(f"{CALLBACK}?{name}={value}")
    require_code(world.gateway, here.gateway.visit(here.attempt(agent)))
    return here, here.attempt(agent, state=STATE)


def _has_all(attempt: Attempt, visit: Visit) -> None:
    if visit.sent_to is None or without_query(visit.sent_to) != CALLBACK:
        raise LeftOut("the gateway does not tell the agent of this error by a redirect")
    # `visit.sent()` reads malformed queries as well.
    expect.that(
        _OWN in visit.query(),
        "error redirect to a redirect URI with a query of its own",
        expected="that query, and the parameters of the error",
        got=", ".join(name for name, _ in visit.query()) or "no parameter",
    )
    has_error_and_state(attempt, visit)
