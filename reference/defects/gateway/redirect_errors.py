"""Gateways with wrong redirects to the agent: state, error, iss or status."""

from __future__ import annotations

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.authorization import code_redirect, error_redirect
from gateproof.reference.gateway.records import AuthorizationRequest


def without_state(uri: str, error: str, description: str, _state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, "", issuer)


def state_of_the_decliner_lost(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, "" if error == "access_denied" else state, issuer)


def state_cut_short(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, state.split("&", maxsplit=1)[0], issuer)


def without_error(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, state, issuer).replace("error=", "reason=", 1)


def another_issuer(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, state, f"{issuer}/errors")


def code_of_another_issuer(request: AuthorizationRequest, code: str, issuer: str) -> str:
    return code_redirect(request, code, f"{issuer}/{request.client_id}")


def form_sent_on(status: int, path: str) -> object:
    """Answers this form with a redirect status that makes the browser repeat the form."""

    def change(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if asked.method == "POST" and asked.path.endswith(path) and answered.status == 302:
            return Answered(status=status, headers=answered.headers, body=answered.body)
        return answered

    return altering_answers(change)


def refusal_sent_on(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Answers the form of a user who declines with 307."""
    declined = "error=access_denied" in answered.header("location")
    if asked.method == "POST" and declined and answered.status in {302, 303}:
        return Answered(status=307, headers=answered.headers, body=answered.body)
    return answered


def pending_sent_on(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Answers the form of a user whose agent is Pending with 307."""
    pending = "operator" in answered.header("location")
    if asked.method == "POST" and pending and answered.status in {302, 303}:
        return Answered(status=307, headers=answered.headers, body=answered.body)
    return answered


DEFECTS = (
    defect(
        "state-lost-in-error-redirects (AUTHZ-24): Error redirects have no state.",
        error_redirect=without_state,
    ),
    defect(
        "state-lost-when-declined (AUTHZ-24): The error redirect after the user has declined has no state.",
        error_redirect=state_of_the_decliner_lost,
    ),
    defect(
        "state-cut-in-error-redirects (AUTHZ-24): Error redirects cut the state at its first ampersand.",
        error_redirect=state_cut_short,
    ),
    defect(
        "error-redirect-without-error (AUTHZ-24): Error redirects have no parameter error.",
        error_redirect=without_error,
    ),
    defect(
        "foreign-iss-in-error-redirects (AUTHZ-25): Error redirects have a wrong iss.",
        error_redirect=another_issuer,
    ),
    defect(
        "foreign-iss-with-the-code (AUTHZ-25): Redirects with a code have a wrong iss.",
        code_redirect=code_of_another_issuer,
    ),
    defect(
        "approval-sent-on-by-307 (AUTHZ-26): The gateway answers the approve form with 307, so the browser "
        "sends the form to the agent.",
        around=form_sent_on(307, "/sign-in/decision"),
    ),
    defect(
        "approval-sent-on-by-308 (AUTHZ-26): The gateway answers the approve form with 308, so the browser "
        "sends the form to the agent.",
        around=form_sent_on(308, "/sign-in/decision"),
    ),
    defect(
        "refusal-sent-on-by-307 (AUTHZ-26): The gateway answers the form with 307 if the user declines.",
        around=altering_answers(refusal_sent_on),
    ),
    defect(
        "pending-sent-on-by-307 (AUTHZ-26): Users are asked about Pending agents, too, and the gateway "
        "answers their approve form with 307.",
        consent=lambda _facts: None,
        pending_redirects_error=True,
        around=altering_answers(pending_sent_on),
    ),
)
