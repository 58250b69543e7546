"""A request of a signed-in operator, and the wrapper that requires a sign-in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.records import Project
from gateproof.reference.site.layout import Frame, button, document, form, notice
from gateproof.reference.site.markup import Child, tag
from gateproof.reference.site.visits import Session, Sessions, redirect_to, shown, trusted_form
from gateproof.reference.web import Endpoint

MOST_SPENT = 100


@dataclass(kw_only=True, slots=True)
class ConsoleState:
    """The session data of one browser; `operator` is None until a sign-in."""

    operator: str | None = None
    said: str | None = None
    # Tickets of submitted forms, so that a reload does not process a form again.
    spent: list[str] = field(default_factory=list)


ConsoleSessions: TypeAlias = Sessions[ConsoleState]


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """One request of the operator; `form` has the fields of a valid form."""

    gateway: Gateway
    request: Request
    session: Session[ConsoleState]
    form: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> ConsoleState:
        return self.session.contents

    @property
    def token(self) -> str:
        return self.session.token

    def project(self) -> Project:
        """The Project in the path."""
        project = self.gateway.store.projects.get(self.request.path_params["project_id"])
        if project is None:
            raise HTTPException(404)
        return project

    def page(
        self, title: str, *main: Child, trail: tuple[tuple[str, str], ...] = (), status: int = 200
    ) -> Response:
        """A page of the Console, with the message of the last action."""
        said, self.state.said = self.state.said, None
        leave = form("/sign-out", self.token, button("Sign out", class_="plain"))
        frame = Frame(site="Console", home="/projects", beside=leave)
        crumbs = [tag("li", tag("a", name, href=href)) for name, href in trail]
        path = tag("nav", tag("ol", crumbs), class_="crumbs", aria_label="Breadcrumb") if crumbs else None
        return shown(document(frame, title, notice(said), *main, above=path), status)

    def done(self, to: str, said: str) -> Response:
        """Redirects; the next page shows this message."""
        self.state.said = said
        return redirect_to(to)

    def is_first(self, ticket: str) -> bool:
        """True for the first form with this ticket."""
        state = self.state
        if not ticket or ticket in state.spent:
            return False
        state.spent = [*state.spent[-MOST_SPENT:], ticket]
        return True


Handler: TypeAlias = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True, slots=True)
class SignedInEndpoints:
    """Makes endpoints from handlers; without a session they redirect to the sign-in page."""

    gateway: Gateway
    sessions: ConsoleSessions

    def reading(self, handler: Handler) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            session = self._signed_in(request)
            if session is None:
                return redirect_to("/sign-in")
            return await handler(Visit(gateway=self.gateway, request=request, session=session))

        return endpoint

    def writing(self, handler: Handler) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            session = self._signed_in(request)
            if session is None:
                return redirect_to("/sign-in")
            fields = await trusted_form(request, session.token)
            return await handler(Visit(gateway=self.gateway, request=request, session=session, form=fields))

        return endpoint

    def _signed_in(self, request: Request) -> Session[ConsoleState] | None:
        session = self.sessions.of(request)
        return session if session is not None and session.contents.operator is not None else None
