"""The control endpoint: the actions of the Console, for tests."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.actions import ACTIONS
from gateproof.reference.gateway.arguments import Arguments, WrongArgument
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.serving import is_loopback
from gateproof.reference.web import Endpoint, json_answer, json_of


def control(gateway: Gateway, token: str | None) -> Endpoint:
    """Each action is one JSON object. Web pages cannot call this endpoint.

    A page of another site needs a CORS preflight for application/json. A DNS rebinding attack has a wrong
    Host header.
    """

    async def endpoint(request: Request) -> Response:
        if not is_loopback(_host_name(request)):
            return _problem(403, "the Host header has to name a loopback address")
        if token is not None and not _bears(request, token):
            return _problem(401, "the control token is missing or wrong")
        members = await json_of(request)
        if not isinstance(members, dict):
            return _problem(400, "expected one JSON object, sent as application/json")
        name = members.pop("action", None)
        action = ACTIONS.get(name) if isinstance(name, str) else None
        if action is None:
            return _problem(501, "there is no such action")
        try:
            return json_answer(action(gateway, Arguments(members)), headers={"cache-control": "no-store"})
        except WrongArgument as error:
            return _problem(400, str(error))

    return endpoint


def _bears(request: Request, token: str) -> bool:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
    return scheme.lower() == "bearer" and right


def _host_name(request: Request) -> str:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _problem(status: int, what: str) -> Response:
    return json_answer({"error": what}, status, {"cache-control": "no-store"})
