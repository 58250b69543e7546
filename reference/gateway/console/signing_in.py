"""Sign-in and sign-out of the operator."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.console.visit import ConsoleSessions, ConsoleState, Visit
from gateproof.reference.ids import fingerprint
from gateproof.reference.site.layout import Frame, button, complaint, document, form
from gateproof.reference.site.layout import field as line
from gateproof.reference.site.visits import Session, redirect_to, shown, trusted_form
from gateproof.reference.web import Endpoint

NAME = "operator"
FRAME = Frame(site="Console", home="/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """The operator's name, and the fingerprint of the password, which is random and long."""

    name: str
    password: str = field(repr=False)


def operator_with(password: str) -> Operator:
    return Operator(name=NAME, password=fingerprint(password))


def ask(sessions: ConsoleSessions) -> Endpoint:
    """The form has its own session, against sign-in CSRF: another site must not sign a user in."""

    async def endpoint(request: Request) -> Response:
        session = sessions.of(request)
        if session is not None and session.contents.operator is not None:
            return redirect_to("/projects")
        if session is not None:
            return _page(session, None)
        session, cookie = sessions.begin(ConsoleState())
        return _page(session, None, headers=cookie)

    return endpoint


def sign_in(sessions: ConsoleSessions, operator: Operator) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        session = sessions.of(request)
        if session is None:
            return redirect_to("/sign-in")
        fields = await trusted_form(request, session.token)
        right = [
            hmac.compare_digest(fields.get("name", "").encode("utf-8", "replace"), operator.name.encode()),
            hmac.compare_digest(fingerprint(fields.get("password", "")), operator.password),
        ]
        if not all(right):
            return _page(session, "Wrong name or password.", status=403)
        # A new cookie, against session fixation: an old cookie that an attacker set stays signed out.
        sessions.end(session)
        _, cookie = sessions.begin(ConsoleState(operator=operator.name))
        return redirect_to("/projects", cookie)

    return endpoint


def sign_out(sessions: ConsoleSessions, visit: Visit) -> Response:
    sessions.end(visit.session)
    return redirect_to("/sign-in")


def _page(
    session: Session[ConsoleState],
    wrong: str | None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    content = form(
        "/sign-in",
        session.token,
        line("Name", "name", required=True, autocomplete="username"),
        line("Password", "password", type="password", required=True, autocomplete="current-password"),
        button("Sign in"),
        class_="card",
    )
    return shown(document(FRAME, "Sign in", complaint(wrong), content), status, headers)
