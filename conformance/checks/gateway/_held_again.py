"""Agents that a gateway holds as Pending again after a long time without use."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.kit.gateway.gateway import Gateway, Visit
from gateproof.conformance.suite.claims import LeftOut
from gateproof.conformance.suite.parties import Attempt, Authorization
from gateproof.conformance.wire.secret import Secret

# Errors of RFC 6749, 4.1.2.1, that do not say that an agent is not approved.
OTHER_ERRORS = ("server_error", "temporarily_unavailable", "invalid_request", "invalid_scope")
INVENTED = Secret("code", "gateproof-invented")


def leave_out_if_held_again(gateway: Gateway, attempt: Attempt, visit: Visit) -> None:
    """Raises LeftOut if the agent got no code, but is still known with its secret.

    The sign-in for a Pending agent finishes. What follows is not specified: a page with any status, or an
    error in the redirect. A request that is refused before the user has done anything is another matter, and
    so is an error with another meaning.
    """
    signed_in = bool(visit.acts) or (visit.sent_to is None and visit.status == 200)
    if visit.parameter("error") in OTHER_ERRORS:
        return
    if signed_in and visit.ended() and not visit.codes() and _is_known(gateway, attempt):
        raise LeftOut("the agent is Pending again, and its secret is still distinguished from a wrong one")


def _is_known(gateway: Gateway, attempt: Attempt) -> bool:
    """True if an invented code gets another answer with the right secret than with a wrong one."""
    stranger = replace(attempt.agent, client_secret=Secret("client_secret", "gateproof-wrong"))
    known, unknown = (
        gateway.exchange(
            Authorization(
                agent=agent,
                code=INVENTED,
                verifier=attempt.verifier,
                redirect_uri=attempt.parameters["redirect_uri"],
            )
        )
        for agent in (attempt.agent, stranger)
    )
    return (known.status, known.member("error")) != (unknown.status, unknown.member("error"))
