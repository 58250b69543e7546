"""Gateways whose error redirects after the sign-in lack state or error, or have a wrong iss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.authorization import error_redirect

NOT_SIGNED_IN = ("the user did not sign in",)
MERCHANT_FAILED = ("the merchant did not sign the user in",)
PENDING = ("the operator has yet to approve the agent",)


def where(descriptions: tuple[str, ...], wrong: Callable[..., str]) -> Any:
    """Uses the wrong redirect for these errors."""

    def redirect(uri: str, error: str, description: str, state: str, issuer: str) -> str:
        chosen = wrong if description in descriptions else error_redirect
        return chosen(uri, error, description, state, issuer)

    return redirect


def without_state(uri: str, error: str, description: str, _state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, "", issuer)


def without_error(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, state, issuer).replace("error=", "reason=", 1)


def of_another_issuer(uri: str, error: str, description: str, state: str, issuer: str) -> str:
    return error_redirect(uri, error, description, state, f"{issuer}/sign-in")


DEFECTS = (
    defect(
        "state-lost-on-the-way-back (AUTHZ-24): If the identity provider answers with an error, the redirect "
        "to the agent has no state.",
        error_redirect=where(NOT_SIGNED_IN, without_state),
    ),
    defect(
        "state-lost-when-the-merchant-fails (AUTHZ-24): If the merchant refuses the gateway's code, the "
        "redirect to the agent has no state.",
        error_redirect=where(MERCHANT_FAILED, without_state),
    ),
    defect(
        "pending-agents-told-without-error (AUTHZ-24): The gateway redirects to a Pending agent without "
        "`error`.",
        pending_redirects_error=True,
        error_redirect=where(PENDING, without_error),
    ),
    defect(
        "pending-agents-told-without-state (AUTHZ-24): The gateway redirects to a Pending agent without "
        "`state`.",
        pending_redirects_error=True,
        error_redirect=where(PENDING, without_state),
    ),
    defect(
        "foreign-iss-on-the-way-back (AUTHZ-25): If a sign-in fails, the redirect to the agent has the `iss` "
        "of another issuer.",
        error_redirect=where(NOT_SIGNED_IN + MERCHANT_FAILED, of_another_issuer),
    ),
    defect(
        "foreign-iss-for-pending-agents (AUTHZ-25): The redirect to a Pending agent has the `iss` of another "
        "issuer.",
        pending_redirects_error=True,
        error_redirect=where(PENDING, of_another_issuer),
    ),
)
