"""A token endpoint that takes JSON objects beside forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.outcomes import Refusal

Facts = TypeVar("Facts")
# Whether the token request that this task serves came in JSON.
CAME_IN_JSON: ContextVar[bool] = ContextVar("came_in_json", default=False)


def not_in_json(check: Callable[[Facts], Refusal | None]) -> Callable[[Facts], Refusal | None]:
    """The same check, for forms only."""
    return lambda facts: None if CAME_IN_JSON.get() else check(facts)


def taking_json(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Turns a JSON object into a form; other values than texts become texts."""

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if scope["path"] != "/oauth2/token" or headers.get(b"content-type") != b"application/json":
            await app(scope, receive, send)
            return
        form = _form(json.loads(await _body(receive)))
        CAME_IN_JSON.set(True)
        headers |= {
            b"content-type": b"application/x-www-form-urlencoded",
            b"content-length": str(len(form)).encode(),
        }

        async def replayed() -> Message:
            return {"type": "http.request", "body": form, "more_body": False}

        await app({**scope, "headers": list(headers.items())}, replayed, send)

    return read


def _form(document: Any) -> bytes:
    members = document.items() if isinstance(document, dict) else ()
    texts = ((name, value if isinstance(value, str) else json.dumps(value)) for name, value in members)
    return urlencode([(name, text) for name, text in texts if text != "null"]).encode()


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body
