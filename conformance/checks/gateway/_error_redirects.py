"""Error redirects: what an agent gets at its redirect URI instead of a code."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.signin.addresses import lands_on
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt

# A state that has to be encoded.
STATE = "gateproof state/+&=%20~"


def is_an_error_redirect(attempt: Attempt, visit: Visit) -> None:
    """The gateway redirects with an error; left out if it shows a page or gives a code instead."""
    if visit.sent_to is None or not lands_on(attempt.parameters["redirect_uri"], visit.sent_to):
        raise LeftOut("the gateway does not tell the agent of this error by a redirect")
    if visit.codes():
        raise LeftOut("the gateway gives a code for this request: another rule forbids that")


def has_error_and_state(attempt: Attempt, visit: Visit) -> None:
    """An error redirect has `error` and the agent's own `state`."""
    is_an_error_redirect(attempt, visit)
    # An error of another response_type may be in the fragment (RFC 6749 section 4.2.2.1).
    said = [pair for pair in visit.sent() if pair[1]]
    named = ", ".join(name for name, _ in said) or "no parameter"
    expect.that("error" in dict(said), "error redirect", expected="the parameter error", got=named)
    states, state = [value for name, value in said if name == "state"], attempt.parameters["state"]
    expect.that(
        states == [state], "state of the error redirect", expected=state, got=", ".join(states) or "none"
    )


def names_the_issuer(visit: Visit, issuer: object) -> None:
    """`iss` in the redirect, if present, is this issuer."""
    named = [value for name, value in visit.sent() if name == "iss"]
    expect.that(
        all(value == issuer for value in named),
        "iss in the redirect",
        expected=str(issuer),
        got=", ".join(named),
    )
