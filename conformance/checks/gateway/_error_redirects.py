"""What an agent is told at its redirect URI where it gets no code."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.signin.addresses import lands_on
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt

# A state that has to be encoded.
STATE = "gateproof state/+&=%20~"


def is_an_error_redirect(attempt: Attempt, visit: Visit) -> None:
    """The agent is told of an error; left out if the gateway shows a page instead."""
    if visit.sent_to is None or not lands_on(attempt.parameters["redirect_uri"], visit.sent_to):
        raise LeftOut("the gateway does not tell the agent of this error by a redirect")
    if visit.codes():
        raise LeftOut("the gateway gives a code for this request: that it may not is another rule's matter")


def has_error_and_state(attempt: Attempt, visit: Visit) -> None:
    """If the agent is told of an error, it is told which, and its own state."""
    is_an_error_redirect(attempt, visit)
    # An error of another response_type may stand behind the hash (RFC 6749 section 4.2.2.1).
    said = [pair for pair in visit.sent() if pair[1]]
    named = ", ".join(name for name, _ in said) or "no parameter"
    expect.that("error" in dict(said), "error redirect", expected="the parameter error", got=named)
    states, state = [value for name, value in said if name == "state"], attempt.parameters["state"]
    expect.that(
        states == [state], "state of the error redirect", expected=state, got=", ".join(states) or "none"
    )


def names_the_issuer(visit: Visit, issuer: object) -> None:
    """`iss` in the redirect, where there is one, is this issuer."""
    named = [value for name, value in visit.sent() if name == "iss"]
    expect.that(
        all(value == issuer for value in named),
        "iss in the redirect",
        expected=str(issuer),
        got=", ".join(named),
    )
