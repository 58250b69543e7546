"""The parameters of redirects to the agent, and the statuses of redirects after forms."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.checks.gateway._error_redirects import (
    STATE,
    has_error_and_state,
    is_an_error_redirect,
    names_the_issuer,
)
from gateproof.conformance.checks.gateway._faulty_requests import REFUSED, Change
from gateproof.conformance.checks.gateway._visits import approves, attempt_known_to_work
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.exchange import Exchange
from gateproof.conformance.wire.route import origin


@check("AUTHZ-24", needs=["sign-in:browser"], cases=REFUSED)
def error_redirect_has_error_and_state(world: World, case: Change) -> None:
    """An error redirect to the agent has `error`, and the agent's own `state` unchanged."""
    here, attempt = _stated(world)
    visit = here.gateway.visit(attempt, pairs=case(list(attempt.parameters.items())), wherever=True)

    has_error_and_state(attempt, visit)


@check("AUTHZ-24", needs=["sign-in:decline"])
def redirect_of_a_user_who_declines_has_error_and_state(world: World) -> None:
    """An error redirect after the user declines has `error`, and the agent's own `state` unchanged."""
    here, attempt = _stated(world)
    visit = here.gateway.visit(attempt, approve=False, wherever=True)

    has_error_and_state(attempt, visit)


@check("AUTHZ-25")
def issuer_in_a_redirect_is_the_discovered_one(world: World) -> None:
    """`iss` in a redirect with a code, if present, is the issuer of the discovery document."""
    here, attempt = attempt_known_to_work(world)
    issuer = world.discovery(attempt.resource).get("issuer")
    visit = here.gateway.visit(attempt)
    require_code(world.gateway, visit)

    names_the_issuer(visit, issuer)


@check("AUTHZ-25", needs=["sign-in:browser"], cases=REFUSED)
def issuer_in_an_error_redirect_is_the_discovered_one(world: World, case: Change) -> None:
    """`iss` in a redirect with an error, if present, is the issuer of the discovery document."""
    here, attempt = attempt_known_to_work(world)
    issuer = world.discovery(attempt.resource).get("issuer")
    visit = here.gateway.visit(attempt, pairs=case(list(attempt.parameters.items())), wherever=True)
    is_an_error_redirect(attempt, visit)

    names_the_issuer(visit, issuer)


@check("AUTHZ-26", needs=["sign-in:browser"])
def no_form_is_sent_on(gateway: Gateway, world: World) -> None:
    """The gateway answers no form with 307 or 308: the browser would send its fields to the next host."""
    browser, user = gateway.browser(), world.users[0]
    for _ in range(2):
        approves(gateway, world, browser, world.agents.new(), user)
    _sent_on_by_none(gateway, world.seen())


@check("AUTHZ-26", needs=["sign-in:decline"])
def form_of_a_user_who_declines_is_not_sent_on(gateway: Gateway, world: World) -> None:
    """Also the form by which a user declines is not answered with 307 or 308."""
    here, attempt = attempt_known_to_work(world)
    here.gateway.visit(attempt, approve=False, wherever=True)

    _sent_on_by_none(gateway, world.seen())


@check("AUTHZ-26", needs=["sign-in:browser"])
def form_for_a_pending_agent_is_not_sent_on(gateway: Gateway, world: World) -> None:
    """Also the forms of an authorization that ends because the agent is Pending get no 307 or 308."""
    resource = world.projects.holding_resource()
    world.new_code()
    before = len(world.seen())
    gateway.visit(world.attempt(world.agents.new(), resource=resource), wherever=True)

    _sent_on_by_none(gateway, world.seen()[before:])


def _sent_on_by_none(gateway: Gateway, exchanges: Sequence[Exchange]) -> None:
    homes = {origin(gateway.base_url), origin(gateway.core_url)}
    forms = [
        exchange
        for exchange in exchanges
        if exchange.step == "browser"
        and exchange.request.method == "POST"
        and origin(exchange.request.url) in homes
    ]
    if not forms:
        raise LeftOut("the user sends no form to the gateway")

    for exchange in forms:
        expect.that(
            exchange.status not in {307, 308},
            f"answer to the form at {exchange.request.url.partition('?')[0]}",
            expected="a page, or a redirect by 302 or 303",
            got=exchange.outcome(),
            exchange=exchange,
        )


def _stated(world: World) -> tuple[World, Attempt]:
    """A request with a state that has to be encoded, in a browser where a good request gave a code."""
    here, attempt = attempt_known_to_work(world)
    return here, here.attempt(attempt.agent, state=STATE)
