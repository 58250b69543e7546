"""Gateways whose cookies can be read by others than the gateway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway

Change = Callable[[Asked, Answered, Gateway], Answered]


def written(change: Callable[[str], str], when: Callable[[Asked], bool] = lambda _: True) -> Change:
    """The browser's cookie is written otherwise in some answers."""

    def meddle(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not when(asked):
            return answered
        headers = (
            (name, change(value) if name == "set-cookie" else value) for name, value in answered.headers
        )
        return replace(answered, headers=tuple(headers))

    return meddle


def without_secure(cookie: str) -> str:
    return cookie.replace("; Secure", "")


def without_http_only(cookie: str) -> str:
    return cookie.replace("; HttpOnly", "")


def with_a_semicolon_forgotten(cookie: str) -> str:
    return cookie.replace("; HttpOnly; SameSite=Lax; Secure", "; SameSite=Lax; Secure HttpOnly")


def repeated_for_scripts(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Whoever comes with a cookie gets it again, with what a library for sessions adds by itself."""
    cookie = asked.headers.get("cookie", "").partition(";")[0]
    if not cookie or answered.header("set-cookie") or not asked.path.endswith("/oauth2/auth"):
        return answered
    return answered.with_header("set-cookie", f"{cookie}; Path=/; Secure; SameSite=Lax")


DEFECTS = (
    defect(
        "session-cookie-without-secure (AUTHZ-27): The cookie of the browser may go over plain HTTP.",
        around=meddling(written(without_secure)),
    ),
    defect(
        "session-cookie-for-scripts (AUTHZ-27): The cookie of the browser can be read by scripts.",
        around=meddling(written(without_http_only)),
    ),
    defect(
        "session-cookie-with-a-semicolon-forgotten (AUTHZ-27): Two attributes of the cookie are written as "
        "one, which browsers do not know.",
        around=meddling(written(with_a_semicolon_forgotten)),
    ),
    defect(
        "session-cookie-without-secure-once-signed-in (AUTHZ-27): The cookie that a browser gets when its "
        "user has signed in may go over plain HTTP.",
        around=meddling(written(without_secure, lambda asked: asked.path.endswith("/sign-in/callback"))),
    ),
    defect(
        "session-cookie-for-scripts-when-repeated (AUTHZ-27): A browser that comes back gets its cookie "
        "again, readable by scripts.",
        around=meddling(repeated_for_scripts),
    ),
)
