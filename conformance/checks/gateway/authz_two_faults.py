"""Requests with two faults: the gateway does not redirect to an unregistered address.

A gateway that validates the other parameters first may redirect with an error before it has validated the
client and its redirect URI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gateproof.conformance.checks.gateway._faulty_requests import REFUSED, Change, with_other, without
from gateproof.conformance.checks.gateway._visits import attempt_known_to_work, is_not_sent_to, no_code
from gateproof.conformance.kit.gateway.gateway import CALLBACK, Visit
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.parties import Attempt

UNREGISTERED = "https://evil.example/callback"
NOBODY = "gateproof-nobody"


# The second fault of the request, or a parameter that a gateway may answer by an early redirect.
OTHER_FAULTS: Mapping[str, Change] = {
    **REFUSED,
    "no-state": without("state"),
    "doubled-state": lambda pairs: [*pairs, ("state", "gateproof-another")],
    "prompt-none": with_other("prompt", "none"),
}


@check("AUTHZ-06", cases=OTHER_FAULTS)
def unregistered_uri_is_told_of_no_other_fault(world: World, case: Change) -> None:
    """A request with an unregistered redirect URI and another fault gets no code and no redirect to the URI.

    It is sent from a signed-in browser, and from a new one.
    """
    here, attempt = attempt_known_to_work(world)
    world.show(UNREGISTERED)
    for where, visit in _visits(world, here, attempt, case, ("redirect_uri", UNREGISTERED)):
        what = f"authorization with an unregistered redirect URI and another fault, in {where}"
        no_code(visit, what)
        is_not_sent_to(UNREGISTERED, visit, what)


@check("AUTHZ-06", cases={"first": True, "last": False})
def unregistered_uri_beside_the_registered_one_is_never_gone_to(world: World, case: bool) -> None:
    """If a request has redirect_uri twice, the browser is not redirected to the unregistered one."""
    here, attempt = attempt_known_to_work(world)
    world.show(UNREGISTERED)
    pairs, added = list(attempt.parameters.items()), ("redirect_uri", UNREGISTERED)

    visit = here.gateway.visit(attempt, pairs=[added, *pairs] if case else [*pairs, added], wherever=True)

    is_not_sent_to(UNREGISTERED, visit, "authorization with redirect_uri doubled")


@check("AUTHZ-11", cases=OTHER_FAULTS)
def unknown_client_is_told_of_no_other_fault(world: World, case: Change) -> None:
    """A request with an unknown client_id and another fault gets no code, and no redirect to its URI.

    It is sent from a signed-in browser, and from a new one.
    """
    here, attempt = attempt_known_to_work(world)
    world.show(NOBODY)
    for where, visit in _visits(world, here, attempt, case, ("client_id", NOBODY)):
        what = f"authorization with an unknown client_id and another fault, in {where}"
        no_code(visit, what)
        sent_to = (visit.sent_to or "").partition("?")[0].partition("#")[0]
        expect.that(sent_to != CALLBACK, what, expected="no redirect to its URI", got=visit.outcome())


def _visits(
    world: World, here: World, attempt: Attempt, fault: Change, wrong: tuple[str, str]
) -> Iterator[tuple[str, Visit]]:
    """The result of the request with both faults, in a signed-in browser and in a new one."""
    pairs = fault(with_other(*wrong)(list(attempt.parameters.items())))
    for where, gateway in (("a signed-in browser", here.gateway), ("a new browser", world.gateway)):
        yield where, gateway.visit(attempt, pairs=pairs, wherever=True)
