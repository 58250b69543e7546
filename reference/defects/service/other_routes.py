"""Services that guard one way to the operation, and have another one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import validation

# Whether the request at hand came on a way on which signatures are not looked at.
_BELIEVED: ContextVar[bool] = ContextVar("believed", default=False)


def of_the_orders(asked: Asked) -> bool:
    return asked.path == "/orders"


def of_the_tool(asked: Asked) -> bool:
    return asked.path == "/mcp" and method_of(asked) == "tools/call"


def unguarded(way: Callable[[Asked], bool], operation: Callable[[Asked], bool] = of_the_orders) -> Any:
    """Who comes this way without a token is shown what was shown last."""
    shown: list[Answered] = []

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if "authorization" in asked.headers:
            if answered.status == 200 and operation(asked):
                shown[:] = [answered]
        elif shown and way(asked):
            return replace(shown[0])
        return answered

    return meddling(change)


def unverified(way: Callable[[Scope], bool]) -> dict[str, Any]:
    """This way leads to the operation as well, and signatures are not looked at on it."""

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        async def routed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or not way(scope):
                await app(scope, receive, send)
                return
            _BELIEVED.set(True)
            await app({**scope, "method": "POST", "path": "/orders", "raw_path": b"/orders"}, receive, send)

        return routed

    def claims(token: str, known: Sequence[validation.Jwk]) -> dict[str, Any] | None:
        if not _BELIEVED.get():
            return validation.signed_claims(token, known)
        return jwt.decode(token, options={"verify_signature": False})

    return {"around": around, "signed_claims": claims}


def resource_for_everybody() -> Any:
    """The orders that were shown last are a resource as well, for which nobody asks who reads it."""
    shown: list[str] = []
    uri = "orders://last"

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if of_the_tool(asked) and answered.status == 200:
            shown[:] = [answered.body.decode()]
            return answered
        text = shown[-1] if shown else ""
        read = method_of(asked) == "resources/read"
        if not read and (method_of(asked) != "resources/list" or answered.status != 200):
            return answered
        contents = {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}
        result = contents if read else {"resources": [{"uri": uri, "name": "orders"}]}
        body = json.dumps({"jsonrpc": "2.0", "id": json.loads(asked.body).get("id"), "result": result})
        return Answered(status=200, headers=(("content-type", "application/json"),), body=body.encode())

    return meddling(change)


DEFECTS = (
    defect(
        "signature-looked-at-on-post-alone (CHAL-04): GET does the same as POST, with any token that reads "
        "well.",
        **unverified(lambda scope: scope["method"] == "GET" and scope["path"] == "/orders"),
    ),
    defect(
        "signature-looked-at-without-a-slash-alone (CHAL-04): A slash behind the path changes nothing but "
        "that any token does that reads well.",
        **unverified(lambda scope: scope["path"] == "/orders/"),
    ),
    defect(
        "get-unguarded (CHAL-01): The guard stands before POST alone, and GET shows the last orders to "
        "anybody.",
        around=unguarded(lambda asked: asked.method == "GET" and asked.path == "/orders"),
    ),
    defect(
        "put-unguarded (CHAL-01): PUT shows the last orders to anybody.",
        around=unguarded(lambda asked: asked.method == "PUT" and asked.path == "/orders"),
    ),
    defect(
        "guard-by-the-letter-of-the-path (CHAL-01): The guard knows the path in one spelling, and who "
        "routes in every case and with a slash behind it.",
        around=unguarded(
            lambda asked: asked.path != "/orders" and asked.path.lower().rstrip("/") == "/orders"
        ),
    ),
    defect(
        "guard-by-the-first-slash (CHAL-01): Slashes at the beginning of a path are one to who routes, and "
        "not to the guard.",
        around=unguarded(lambda asked: asked.path == "//orders"),
    ),
    defect(
        "options-unguarded (CHAL-01): The guard lets OPTIONS pass for the sake of browsers, and it shows the "
        "last orders to anybody.",
        around=unguarded(lambda asked: asked.method == "OPTIONS" and asked.path == "/orders"),
    ),
    defect(
        "guard-by-path-and-query (CHAL-01): The guard compares the path with its query, and who routes the "
        "path alone.",
        around=unguarded(lambda asked: asked.path == "/orders" and bool(asked.query)),
    ),
    defect(
        "guard-by-path-and-parameters (CHAL-01): The guard compares the path with its parameters, and who "
        "routes cuts them off.",
        around=unguarded(lambda asked: asked.path.startswith("/orders;")),
    ),
    mcp_defect(
        "mcp-unguarded-at-a-second-path (CHAL-01): The server is there at a second path, which the guard "
        "does not know.",
        around=unguarded(lambda asked: asked.path == "/v1/mcp", of_the_tool),
    ),
    mcp_defect(
        "mcp-guard-by-the-letter-of-the-path (CHAL-01): The guard knows the path of MCP in one spelling, "
        "and who routes takes a slash behind it.",
        around=unguarded(lambda asked: asked.path == "/mcp/", of_the_tool),
    ),
    mcp_defect(
        "batch-unguarded (CHAL-01): The guard looks for a tool call in a message, and not in a batch of "
        "them.",
        around=unguarded(lambda asked: asked.path == "/mcp" and asked.body.startswith(b"["), of_the_tool),
    ),
    mcp_defect(
        "resource-for-everybody (CHAL-01 CHAL-10): The guard stands before tools, and a resource shows the "
        "last orders to anybody.",
        around=resource_for_everybody(),
    ),
)
