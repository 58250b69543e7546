"""Gateways that check an authorization request only in a browser that already has a cookie.

Requests of other browsers are stored until the sign-in is finished, and are not checked after it.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import authorization
from gateproof.reference.gateway.policy.authorization import (
    PAGE_CHECKS,
    REDIRECT_CHECKS,
    AuthorizationCheck,
    AuthorizationFacts,
)
from gateproof.reference.outcomes import Refusal

# Whether the browser of the request has a cookie.
_KNOWN: ContextVar[bool] = ContextVar("known", default=False)


def looking_for_cookies(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    async def looked(scope: Scope, receive: Receive, send: Send) -> None:
        _KNOWN.set(any(name == b"cookie" for name, _ in scope.get("headers", ())))
        await app(scope, receive, send)

    return looked


def in_known_browsers(check: AuthorizationCheck) -> AuthorizationCheck:
    def looked(facts: AuthorizationFacts) -> Refusal | None:
        return check(facts) if _KNOWN.get() else None

    return looked


def redirect_checks_of_known_browsers(*honest: AuthorizationCheck) -> dict[str, Any]:
    checks = REDIRECT_CHECKS
    for check in honest:
        checks = instead(checks, check, in_known_browsers(check))
    return {"redirect_checks": checks, "around": looking_for_cookies}


def uri_of_a_known_client(facts: AuthorizationFacts) -> Refusal | None:
    """Accepts any redirect URI of an unknown client if the browser sends no cookie."""
    unknown = facts.agent is None and not _KNOWN.get()
    return None if unknown else authorization.redirect_uri_is_registered(facts)


DEFECTS = (
    defect(
        "redirect-uri-unchecked-before-a-sign-in (AUTHZ-06): The gateway compares the redirect URI only if "
        "the browser sends a cookie.",
        page_checks=instead(
            PAGE_CHECKS,
            authorization.redirect_uri_is_registered,
            in_known_browsers(authorization.redirect_uri_is_registered),
        ),
        around=looking_for_cookies,
    ),
    defect(
        "pkce-unchecked-before-a-sign-in (AUTHZ-03 AUTHZ-04): The gateway checks code_challenge and "
        "code_challenge_method only if the browser sends a cookie.",
        **redirect_checks_of_known_browsers(
            authorization.challenge_is_given, authorization.challenge_method_is_s256
        ),
    ),
    defect(
        "method-unchecked-before-a-sign-in (AUTHZ-04 AUTHZ-03): The gateway checks code_challenge_method "
        "only if the browser sends a cookie.",
        **redirect_checks_of_known_browsers(authorization.challenge_method_is_s256),
    ),
    defect(
        "response-type-unchecked-before-a-sign-in (AUTHZ-05): The gateway checks response_type only if the "
        "browser sends a cookie.",
        **redirect_checks_of_known_browsers(authorization.response_type_is_code),
    ),
    defect(
        "scopes-unchecked-before-a-sign-in (AUTHZ-18): The gateway compares the scopes with those of the "
        "Resource only if the browser sends a cookie.",
        **redirect_checks_of_known_browsers(authorization.scopes_are_known),
    ),
    defect(
        "unknown-client-told-before-a-sign-in (AUTHZ-11): If the browser sends no cookie, the gateway "
        "redirects the error about an unknown client to the redirect URI.",
        page_checks=(in_known_browsers(authorization.client_is_known), uri_of_a_known_client),
        redirect_checks=(authorization.client_is_known, *REDIRECT_CHECKS),
        around=looking_for_cookies,
    ),
)
