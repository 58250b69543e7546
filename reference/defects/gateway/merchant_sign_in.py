"""Gateways that sign in users whom the merchant has not signed in, or more browsers than the user's."""

from __future__ import annotations

from starlette.requests import Request

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.own_sign_in_page import signing_in_itself
from gateproof.reference.gateway.gateway import Gateway


def always(_gateway: Gateway, _request: Request) -> bool:
    return True


def anybody(_gateway: Gateway, login: str) -> bool:
    return bool(login)


def signed_in_once(gateway: Gateway, login: str) -> bool:
    """The merchant has signed this login in before, in whatever browser."""
    return any(known == login for _, known in gateway.store.subjects)


def somebody_has_signed_in(gateway: Gateway, request: Request) -> bool:
    """A gateway that has met users shows its own page, for the password that it believes it knows."""
    resource = gateway.store.resources.get(request.url.path.split("/")[-3])
    return resource is not None and any(
        project == resource.project_id for project, _ in gateway.store.subjects
    )


def known_browser_comes_back(_gateway: Gateway, request: Request) -> bool:
    """A browser that brings a cookie has been here before, whether a sign-in came of that or not."""
    return bool(request.cookies)


DEFECTS = (
    defect(
        "any-password-at-its-own-page (AUTHZ-20): Any login with any password signs in at a page of its own.",
        around=signing_in_itself(always, anybody),
    ),
    defect(
        "known-login-needs-no-merchant (AUTHZ-20): A login that the merchant has once signed in needs no "
        "password.",
        around=signing_in_itself(somebody_has_signed_in, signed_in_once),
    ),
    defect(
        "unfinished-sign-in-trusted (AUTHZ-20): A browser that left a sign-in half way may name any user "
        "when it comes back.",
        around=signing_in_itself(known_browser_comes_back, anybody),
    ),
    defect(
        "cookie-kept-across-the-sign-in (AUTHZ-21): The cookie of before the sign-in is the one of after it.",
        session_keys=lambda before, _new, _signed_in: (before,),
    ),
    defect(
        "old-cookie-signed-in-too (AUTHZ-21): The sign-in sets a new cookie, and the old one is signed in "
        "as well.",
        session_keys=lambda before, new, _signed_in: (before, new),
    ),
    defect(
        "cookie-renewed-for-a-second-user-only (AUTHZ-21): The cookie is renewed where somebody was signed "
        "in.",
        session_keys=lambda before, new, signed_in: (new,) if signed_in else (before,),
    ),
)
