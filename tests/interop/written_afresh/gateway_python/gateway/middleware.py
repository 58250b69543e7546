"""One log line for each request, and an answer where the code fails. Neither says what was sent."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from . import web

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

log = logging.getLogger("gateway.requests")


class Outermost:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def noting_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting_send)
        except Exception:
            log.exception("request failed")
            if status == 0:
                await web.error(500, "server_error", "the gateway has failed")(scope, receive, noting_send)
        finally:
            endpoint = getattr(scope.get("endpoint"), "__name__", "-")
            method = scope["method"] if scope["method"] in METHODS else "-"
            log.info("%s %s %d", method, endpoint, status)
