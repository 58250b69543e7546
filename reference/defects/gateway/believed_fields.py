"""Gateways that believe what a form or a cookie of theirs says when it comes back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextvars import ContextVar
from http.cookies import SimpleCookie
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.hidden_fields import (
    given_to_the_user,
    request_in_the_form,
    sent_to_the_uri,
)
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import sign_in as honest
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.records import Person, SignIn
from gateproof.reference.gateway.store import Store

COOKIE = "gateway_user"


def user_in_a_cookie(write: Callable[[str], str], read: Callable[[str], str]) -> dict[str, Any]:
    """The cookie of a signed-in browser is the login of its user, which nobody has signed."""
    signed_in: ContextVar[list[str]] = ContextVar("signed_in")
    named: ContextVar[str] = ContextVar("named", default="")
    people: dict[str, Person] = {}

    def around(app: ASGIApp, gateway: Gateway) -> ASGIApp:
        async def with_cookie(scope: Scope, receive: Receive, send: Send) -> None:
            mine: list[str] = []
            signed_in.set(mine)
            cookies = SimpleCookie(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))
            named.set(read(cookies[COOKIE].value) if COOKIE in cookies else "")

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start" and mine:
                    path = gateway.base_path or "/"
                    attributes = f"Path={path}; HttpOnly; SameSite=Lax; Secure"
                    headers = MutableHeaders(raw=message["headers"])
                    headers.append("set-cookie", f"{COOKIE}={write(mine[0])}; {attributes}")
                await send(message)

            await app(scope, receive, noting)

        return with_cookie

    def signed_in_as(_before: Person | None, person: Person) -> Person:
        people[person.login_id] = person
        signed_in.get([]).append(person.login_id)
        return person

    def known_user(_store: Store, _facts: AuthorizationFacts, person: Person | None) -> Person | None:
        return people.get(named.get(), person)

    return {"around": around, "signed_in_as": signed_in_as, "known_user": known_user}


def as_json(login: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"login": login, "admin": False}).encode()).decode()


def of_json(cookie: str) -> str:
    try:
        return str(json.loads(base64.urlsafe_b64decode(cookie))["login"])
    except (ValueError, KeyError, TypeError):
        return ""


def begun_or_the_same(sign_in: SignIn, key: str | None) -> bool:
    """The way back from the merchant is bound to nothing; the approve form is bound to its browser."""
    return sign_in.person is None or honest.same_browser(sign_in, key)


DEFECTS = (
    defect(
        "redirect-uri-of-the-forms-state (AUTHZ-06): The approve form has the request as base64 in a hidden "
        "field, and the gateway redirects to the redirect URI in it.",
        **request_in_the_form(encoded=True, redirect_uri=sent_to_the_uri),
    ),
    defect(
        "user-of-the-form (AUTHZ-20): The gateway issues the code for the login in a hidden field of the "
        "approve form.",
        **request_in_the_form(login=given_to_the_user),
    ),
    defect(
        "user-in-a-cookie (AUTHZ-20): The cookie of a signed-in browser is the login of its user.",
        **user_in_a_cookie(str, str),
    ),
    defect(
        "user-in-a-cookie-as-json (AUTHZ-20): The cookie of a signed-in browser is the login of its user, as "
        "JSON in base64url.",
        **user_in_a_cookie(as_json, of_json),
    ),
    defect(
        "sign-in-for-whoever-began (AUTHZ-19 AUTHZ-21): The merchant's answer, in whatever browser it comes, "
        "signs in the browser that began.",
        same_browser=begun_or_the_same,
        session_keys=lambda begun, _own, _known: (begun,),
    ),
)
