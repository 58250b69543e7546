"""Wrong requests are refused also in a browser in which nobody is signed in.

Other checks send their wrong requests from a signed-in browser; a gateway may validate requests only there.
"""

from __future__ import annotations

from gateproof.conformance.checks.gateway._visits import no_code, visit_with
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect

MISSING = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
UNREGISTERED = {
    "trailing-slash": "https://agent.example/callback/",
    "sub-domain": "https://evil.agent.example/callback",
    "other-host": "https://evil.example/callback",
}
RESPONSE_TYPES = {"token": "token", "hybrid": "code id_token", "invented": "gateproof"}
METHODS = {"plain": "plain", "invented": "S512"}


@check("AUTHZ-03", cases=MISSING)
def request_without_it_gives_no_code_in_a_new_browser(world: World, case: str) -> None:
    """A request without a required parameter gives no code in a new browser."""
    world.new_code()
    attempt = world.attempt()
    pairs = [(name, value) for name, value in attempt.parameters.items() if name != case]

    visit = world.gateway.visit(attempt, pairs=pairs, wherever=True)
    no_code(visit, f"authorization in a new browser, without {case}")


@check("AUTHZ-04", cases=METHODS)
def other_challenge_method_gives_no_code_in_a_new_browser(world: World, case: str) -> None:
    """A code_challenge_method other than S256 gives no code in a new browser."""
    no_code(_wrong(world, code_challenge_method=case), f"authorization in a new browser with {case}")


@check("AUTHZ-05", cases=RESPONSE_TYPES)
def other_response_type_gives_no_code_in_a_new_browser(world: World, case: str) -> None:
    """A response_type other than `code` gives no code in a new browser."""
    no_code(_wrong(world, response_type=case), f"authorization in a new browser with {case}")


@check("AUTHZ-06", cases=UNREGISTERED)
def unregistered_uri_gets_no_code_and_no_new_browser(world: World, case: str) -> None:
    """In a new browser, an unregistered redirect URI gets neither code nor redirect."""
    visit = _wrong(world, redirect_uri=case)

    _no_code_and_no_redirect(visit, case, f"authorization in a new browser with the redirect URI {case}")


@check("AUTHZ-11")
def unknown_client_gets_no_code_and_no_new_browser(world: World) -> None:
    """In a new browser, a client_id that was never issued gets no code, and no redirect to its URI."""
    visit = _wrong(world, client_id="gateproof-nobody")

    _no_code_and_no_redirect(visit, CALLBACK, "authorization of an unknown client in a new browser")


def _no_code_and_no_redirect(visit: Visit, redirect_uri: str, what: str) -> None:
    no_code(visit, what)
    sent_to = (visit.sent_to or "").partition("?")[0].partition("#")[0]
    expect.that(sent_to != redirect_uri, what, expected="no redirect to it", got=visit.outcome())


def _wrong(world: World, **parameters: str) -> Visit:
    """The result of a wrong request in a new browser; a correct one has given a code in another."""
    world.new_code()
    return visit_with(world, world.attempt(), **parameters)
