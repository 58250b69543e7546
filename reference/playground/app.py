"""The playground as an ASGI application: pages, the agent's redirect URI, and the service."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateproof.reference.playground import pages
from gateproof.reference.playground.agent_steps import Agent
from gateproof.reference.playground.faults import FAULTS, Fault
from gateproof.reference.playground.redaction import SHORTEST
from gateproof.reference.playground.service_steps import Service
from gateproof.reference.playground.settings import USUAL, Settings, Stage
from gateproof.reference.playground.steps import Guide
from gateproof.reference.playground.walk import Walk
from gateproof.reference.playground.wire import Wire
from gateproof.reference.service.policy.validation import BEARER
from gateproof.reference.site.visits import Guard, Session, Sessions, assets, redirect_to, shown, trusted_form

MOST_WALKS = 1000
METADATA = "/.well-known/oauth-protected-resource"


@dataclass(kw_only=True, slots=True)
class Visitor:
    """One browser and its walk."""

    walk: Walk | None = None


Visitors: TypeAlias = Sessions[Visitor]


class Playground:
    """All walks; a browser sees its own, the service finds them by name."""

    def __init__(self, settings: Settings, wire: Wire) -> None:
        self._settings = settings
        self._agent, self._service = Agent(settings, wire), Service(settings, wire)
        self._guide = Guide(agent=self._agent, service=self._service)
        # Lax: the cookie has to be sent with the redirect from the gateway.
        self._visitors = Visitors(origin=settings.playground_url, name="playground", same_site="Lax")
        self._walks: OrderedDict[str, Walk] = OrderedDict()

    def routes(self) -> list[Route]:
        return [
            *assets(),
            Route("/", self._start, methods=["GET"]),
            Route("/walks", self._begin, methods=["POST"]),
            Route("/walk", self._show, methods=["GET"]),
            Route("/walk/next", self._next, methods=["POST"]),
            Route("/walk/again", self._again, methods=["POST"]),
            Route("/walk/redeem-again", self._redeem_again, methods=["POST"]),
            Route("/walk/leave", self._leave, methods=["POST"]),
            Route("/callback", self._callback, methods=["GET"]),
            Route("/service/{walk}/orders", self._orders, methods=["GET"]),
            Route(f"{METADATA}/service/{{walk}}", self._metadata, methods=["GET"]),
        ]

    async def _start(self, request: Request) -> Response:
        session = self._visitors.of(request)
        if session is not None:
            return shown(pages.start_page(self._settings, session.token, None, {}))
        session, cookie = self._visitors.begin(Visitor())
        return shown(pages.start_page(self._settings, session.token, None, {}), 200, cookie)

    async def _begin(self, request: Request) -> Response:
        session = self._known(request)
        given = await trusted_form(request, session.token)
        fault = next((each for each in FAULTS if each.name == given.get("fault")), None)
        stage = self._stage(given, fault)
        if isinstance(stage, str):
            return shown(pages.start_page(self._settings, session.token, stage, given), 400)
        self._forget(session)
        walk = session.contents.walk = Walk(stage=stage, fault=fault)
        self._walks[walk.name] = walk
        while len(self._walks) > MOST_WALKS:
            self._guide.forget(self._walks.popitem(last=False)[1])
        return redirect_to("/walk")

    async def _show(self, request: Request) -> Response:
        session = self._visitors.of(request)
        if session is None or session.contents.walk is None:
            return redirect_to("/")
        return shown(pages.walk_page(session.contents.walk, session.token))

    async def _next(self, request: Request) -> Response:
        walk, given = await self._walk(request)
        step = given.get("step", "")
        if step.isdecimal() and len(step) == 1:
            await self._guide.go_on(walk, int(step))
        return redirect_to(f"/walk#step-{min(walk.done + 1, 9)}")

    async def _again(self, request: Request) -> Response:
        walk, _ = await self._walk(request)
        self._guide.ask_the_user_again(walk)
        return redirect_to("/walk#step-5")

    async def _redeem_again(self, request: Request) -> Response:
        walk, _ = await self._walk(request)
        self._guide.redeem_again(walk)
        return redirect_to("/walk#step-7")

    async def _leave(self, request: Request) -> Response:
        session = self._known(request)
        await trusted_form(request, session.token)
        self._forget(session)
        return redirect_to("/")

    async def _callback(self, request: Request) -> Response:
        """The agent's redirect URI. It redirects, so that its query is not in the address of a page."""
        walk = self._known(request).contents.walk
        if walk is None:
            raise HTTPException(400)
        self._guide.come_back(walk, dict(request.query_params))
        return redirect_to(f"/walk#step-{walk.done + 1}")

    async def _orders(self, request: Request) -> Response:
        """The protected operation; 401 with the metadata URL without a valid token."""
        walk = self._named(request)
        authorizations = request.headers.getlist("authorization")
        found = BEARER.fullmatch(authorizations[0]) if len(authorizations) == 1 else None
        orders = await self._service.orders_for(walk, found[1]) if found is not None else None
        if orders is not None:
            return JSONResponse({"orders": orders})
        pointer = f"{self._settings.playground_url}{METADATA}/service/{walk.name}"
        challenge = {"www-authenticate": f'Bearer resource_metadata="{pointer}"'}
        return JSONResponse({"error": "unauthorized"}, 401, challenge)

    async def _metadata(self, request: Request) -> Response:
        walk = self._named(request)
        return JSONResponse(self._service.metadata(walk, self._agent.service_url(walk)))

    def _stage(self, given: dict[str, str], fault: Fault | None) -> Stage | str:
        """The chosen Resource, or an error text about the typed one."""
        if given.get("stage") != pages.OWN:
            return self._settings.stages[fault.stage if fault is not None else USUAL]
        if fault is not None and fault.stage != USUAL:
            return "This fault needs a prepared Resource: choose the ready-made one."
        own = {name: given.get(name, "").strip() for name in pages.FIELDS}
        credentials = (own["proxy_client_id"], own["proxy_client_secret"])
        if not all(own.values()) or not own["resource_id"].replace("_", "").isalnum():
            return "A Resource of your own needs all of its fields."
        if any(len(each) < SHORTEST for each in credentials):
            return "The Proxy client ID and secret are too short."
        return Stage(name=pages.OWN, **{**own, "scopes": tuple(own["scopes"].split())})  # type: ignore[arg-type]

    async def _walk(self, request: Request) -> tuple[Walk, dict[str, str]]:
        session = self._known(request)
        given = await trusted_form(request, session.token)
        if session.contents.walk is None:
            raise HTTPException(400)
        return session.contents.walk, given

    def _known(self, request: Request) -> Session[Visitor]:
        session = self._visitors.of(request)
        if session is None:
            raise HTTPException(400)
        return session

    def _named(self, request: Request) -> Walk:
        walk = self._walks.get(request.path_params["walk"])
        if walk is None:
            raise HTTPException(404)
        return walk

    def _forget(self, session: Session[Visitor]) -> None:
        walk, session.contents.walk = session.contents.walk, None
        if walk is not None:
            self._walks.pop(walk.name, None)
            self._guide.forget(walk)


def playground_app(settings: Settings, wire: Wire) -> ASGIApp:
    app = Starlette(
        routes=Playground(settings, wire).routes(),
        exception_handlers={HTTPException: _refused, Exception: _refused},
    )
    return Guard(app, origin=settings.playground_url)


WHY = {
    400: "This browser has no walk, or was inactive for too long.",
    403: "This form is too old, or from another site. Go back, reload the page, and try again.",
    404: "There is nothing at this address.",
}


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    why = WHY.get(status, "The playground cannot do this.")
    return shown(pages.message_page(HTTPStatus(status).phrase, why), status)
