"""An ASGI application of endpoints, without the layers of middleware that Starlette puts around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
Refuse: TypeAlias = Callable[[Request, Exception], Awaitable[Response]]


async def refused_as_text(_request: Request, error: Exception) -> Response:
    """Starlette's own answers: the reason of an HTTP error, or 500."""
    if isinstance(error, HTTPException):
        return PlainTextResponse(error.detail, error.status_code, error.headers)
    return PlainTextResponse("Internal Server Error", 500)


class Endpoints:
    """Calls the first endpoint whose route has the path and the method of a request.

    If there is none, or if an endpoint raises, `refuse` makes the answer. After it, an exception that is not
    an HTTP error is raised again, for the log.
    """

    def __init__(self, routes: Sequence[Route], refuse: Refuse = refused_as_text) -> None:
        self.routes = tuple(routes)
        self._matched = [(route.path_regex.match, route.methods or set(), route.endpoint) for route in routes]
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        has_started = False

        async def sending(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            answer = await self._endpoint(scope)(request)
            await answer(scope, receive, sending)
        except Exception as error:
            if not has_started:
                refusal = await self._refuse(request, error)
                await refusal(scope, receive, send)
            if has_started or not isinstance(error, HTTPException):
                raise

    def _endpoint(self, scope: Scope) -> Endpoint:
        """The endpoint, which is also noted in the scope together with the parameters of the path."""
        path, method = scope["path"], scope["method"]
        allowed: set[str] | None = None
        for matched, methods, endpoint in self._matched:
            found = matched(path)
            if found is None:
                continue
            if method in methods:
                scope["endpoint"], scope["path_params"] = endpoint, found.groupdict()
                return endpoint
            if allowed is None:
                allowed = methods
                scope["endpoint"], scope["path_params"] = endpoint, found.groupdict()
        if allowed is None:
            raise HTTPException(404)
        raise HTTPException(405, headers={"Allow": ", ".join(allowed)})
