"""Gateways that sign in users or browsers without a sign-in at the merchant."""

from __future__ import annotations

from starlette.requests import Request

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.own_sign_in_page import own_sign_in_page
from gateproof.reference.gateway.gateway import Gateway


def always(_gateway: Gateway, _request: Request) -> bool:
    return True


def anybody(_gateway: Gateway, login: str) -> bool:
    return bool(login)


def signed_in_once(gateway: Gateway, login: str) -> bool:
    """Whether the merchant has signed in this login before, in any browser."""
    return any(known == login for _, known in gateway.store.subjects)


def somebody_has_signed_in(gateway: Gateway, request: Request) -> bool:
    """Whether any user of the Project has signed in before."""
    resource = gateway.store.resources.get(request.url.path.split("/")[-3])
    return resource is not None and any(
        project == resource.project_id for project, _ in gateway.store.subjects
    )


def known_browser_comes_back(_gateway: Gateway, request: Request) -> bool:
    """Whether the browser has a cookie, even if its sign-in was not completed."""
    return bool(request.cookies)


DEFECTS = (
    defect(
        "any-password-at-its-own-page (AUTHZ-20): The gateway shows its own sign-in page and accepts any "
        "login with any password.",
        around=own_sign_in_page(always, anybody),
    ),
    defect(
        "known-login-needs-no-merchant (AUTHZ-20): The gateway's own sign-in page accepts a login that the "
        "merchant has signed in before, with any password.",
        around=own_sign_in_page(somebody_has_signed_in, signed_in_once),
    ),
    defect(
        "unfinished-sign-in-trusted (AUTHZ-20): A browser that left a sign-in unfinished can sign in as any "
        "user when it returns.",
        around=own_sign_in_page(known_browser_comes_back, anybody),
    ),
    defect(
        "cookie-kept-across-the-sign-in (AUTHZ-21): The session cookie stays the same at the sign-in.",
        session_keys=lambda before, _new, _signed_in: (before,),
    ),
    defect(
        "old-cookie-signed-in-too (AUTHZ-21): The sign-in sets a new session cookie, but the old one is "
        "signed in too.",
        session_keys=lambda before, new, _signed_in: (before, new),
    ),
    defect(
        "cookie-renewed-for-a-second-user-only (AUTHZ-21): The session cookie changes at a sign-in only if a "
        "user was already signed in.",
        session_keys=lambda before, new, signed_in: (new,) if signed_in else (before,),
    ),
)
