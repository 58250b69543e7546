"""Gateways whose cookies lack attributes that protect them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway

Change = Callable[[Asked, Answered, Gateway], Answered]


def written(change: Callable[[str], str], when: Callable[[Asked], bool] = lambda _: True) -> Change:
    """Changes Set-Cookie in some answers."""

    def rewrite(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
        if not when(asked):
            return answered
        headers = (
            (name, change(value) if name == "set-cookie" else value) for name, value in answered.headers
        )
        return replace(answered, headers=tuple(headers))

    return rewrite


def without_secure(cookie: str) -> str:
    return cookie.replace("; Secure", "")


def without_http_only(cookie: str) -> str:
    return cookie.replace("; HttpOnly", "")


def with_a_semicolon_forgotten(cookie: str) -> str:
    return cookie.replace("; HttpOnly; SameSite=Lax; Secure", "; SameSite=Lax; Secure HttpOnly")


def repeated_for_scripts(asked: Asked, answered: Answered, _gateway: Gateway) -> Answered:
    """Sets a cookie that the browser sent again, with the default attributes of a session library."""
    cookie = asked.headers.get("cookie", "").partition(";")[0]
    if not cookie or answered.header("set-cookie") or not asked.path.endswith("/oauth2/auth"):
        return answered
    return answered.with_header("set-cookie", f"{cookie}; Path=/; Secure; SameSite=Lax")


DEFECTS = (
    defect(
        "session-cookie-without-secure (AUTHZ-27): The gateway's cookie has no attribute Secure.",
        around=altering_answers(written(without_secure)),
    ),
    defect(
        "session-cookie-for-scripts (AUTHZ-27): The gateway's cookie has no attribute HttpOnly.",
        around=altering_answers(written(without_http_only)),
    ),
    defect(
        "session-cookie-with-a-semicolon-forgotten (AUTHZ-27): A missing semicolon joins the cookie's "
        "attributes Secure and HttpOnly into one, which browsers ignore.",
        around=altering_answers(written(with_a_semicolon_forgotten)),
    ),
    defect(
        "session-cookie-without-secure-once-signed-in (AUTHZ-27): The cookie that a browser gets after the "
        "sign-in has no attribute Secure.",
        around=altering_answers(
            written(without_secure, lambda asked: asked.path.endswith("/sign-in/callback"))
        ),
    ),
    defect(
        "session-cookie-for-scripts-when-repeated (AUTHZ-27): A browser that sends its cookie gets it "
        "again, without HttpOnly.",
        around=altering_answers(repeated_for_scripts),
    ),
)
