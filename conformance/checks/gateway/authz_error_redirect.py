"""What an agent is told at its redirect URI, and how the browser gets there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gateproof.conformance.checks.gateway._visits import approves, good
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.signin.addresses import lands_on
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt
from gateproof.conformance.wire.route import origin

Pairs = list[tuple[str, str]]


def _without(name: str) -> Callable[[Pairs], Pairs]:
    return lambda pairs: [pair for pair in pairs if pair[0] != name]


def _with(name: str, value: str) -> Callable[[Pairs], Pairs]:
    return lambda pairs: [*((key, old) for key, old in pairs if key != name), (name, value)]


# Requests that a gateway refuses, though it knows the agent and may tell it so.
REFUSED: Mapping[str, Callable[[Pairs], Pairs]] = {
    "no-scope": _without("scope"),
    "no-response-type": _without("response_type"),
    "other-response-type": _with("response_type", "token"),
    "no-challenge": _without("code_challenge"),
    "plain-challenge": _with("code_challenge_method", "plain"),
    "scope-of-nobody": _with("scope", "openid gateproof:nobody"),
}
_STATE = "gateproof state/+&=%20~"


@check("AUTHZ-24", needs=["sign-in:browser"], cases=REFUSED)
def error_redirect_has_error_and_state(world: World, case: Callable[[Pairs], Pairs]) -> None:
    """An agent that is told of an error at its redirect URI gets `error`, and its own `state` unchanged."""
    here, attempt = _stated(world)
    visit = here.gateway.visit(attempt, pairs=case(list(attempt.parameters.items())), wherever=True)

    _has_error_and_state(attempt, visit)


@check("AUTHZ-24", needs=["sign-in:decline"])
def redirect_of_a_user_who_declines_has_error_and_state(world: World) -> None:
    """So does an agent that the user declines, where it is told at its redirect URI."""
    here, attempt = _stated(world)
    visit = here.gateway.visit(attempt, approve=False, wherever=True)

    _has_error_and_state(attempt, visit)


@check("AUTHZ-25")
def issuer_in_a_redirect_is_the_discovered_one(world: World) -> None:
    """`iss` in a redirect with a code, where there is one, is the issuer of the discovery document."""
    here, attempt = good(world)
    issuer = world.discovery(attempt.resource).get("issuer")
    visit = here.gateway.visit(attempt)
    require_code(world.gateway, visit)

    _names_the_issuer(visit, issuer)


@check("AUTHZ-25", needs=["sign-in:browser"], cases=REFUSED)
def issuer_in_an_error_redirect_is_the_discovered_one(world: World, case: Callable[[Pairs], Pairs]) -> None:
    """`iss` in a redirect with an error, where there is one, is the issuer of the discovery document."""
    here, attempt = good(world)
    issuer = world.discovery(attempt.resource).get("issuer")
    visit = here.gateway.visit(attempt, pairs=case(list(attempt.parameters.items())), wherever=True)
    _is_an_error_redirect(attempt, visit)

    _names_the_issuer(visit, issuer)


@check("AUTHZ-26", needs=["sign-in:browser"])
def no_form_is_sent_on(gateway: Gateway, world: World) -> None:
    """No form of the user's is answered with 307 or 308: a browser would send it on to the next host."""
    browser, user = gateway.browser(), world.users[0]
    for _ in range(2):
        approves(gateway, world, browser, world.agents.new(), user)
    homes = {origin(gateway.base_url), origin(gateway.core_url)}
    forms = [
        exchange
        for exchange in world.seen()
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
    here, attempt = good(world)
    return here, here.attempt(attempt.agent, state=_STATE)


def _is_an_error_redirect(attempt: Attempt, visit: Visit) -> None:
    if visit.sent_to is None or not lands_on(attempt.parameters["redirect_uri"], visit.sent_to):
        raise LeftOut("the gateway does not tell the agent of this error by a redirect")
    if visit.codes():
        raise LeftOut("the gateway gives a code for this request: that it may not is another rule's matter")


def _has_error_and_state(attempt: Attempt, visit: Visit) -> None:
    _is_an_error_redirect(attempt, visit)
    # An error of another response_type may stand behind the hash (RFC 6749 section 4.2.2.1).
    said = [pair for pair in visit.sent() if pair[1]]
    named = ", ".join(name for name, _ in said) or "no parameter"
    expect.that("error" in dict(said), "error redirect", expected="the parameter error", got=named)
    states, state = [value for name, value in said if name == "state"], attempt.parameters["state"]
    expect.that(
        states == [state], "state of the error redirect", expected=state, got=", ".join(states) or "none"
    )


def _names_the_issuer(visit: Visit, issuer: object) -> None:
    named = [value for name, value in visit.sent() if name == "iss"]
    expect.that(
        all(value == issuer for value in named),
        "iss in the redirect",
        expected=str(issuer),
        got=", ".join(named),
    )
