"""Services that check the token on one route to the operation, but not on another."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import jwt
from starlette.types import ASGIApp, Receive, Scope, Send

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import validation

# Whether the current request uses a route without some check of the token.
_UNGUARDED: ContextVar[bool] = ContextVar("unguarded", default=False)


def of_the_orders(asked: Asked) -> bool:
    return asked.path == "/orders"


def of_the_tool(asked: Asked) -> bool:
    return asked.path == "/mcp" and method_of(asked) == "tools/call"


def open_route(route: Callable[[Asked], bool], operation: Callable[[Asked], bool] = of_the_orders) -> Any:
    """A request without a token on this route gets the last answer of the operation."""
    shown: list[Answered] = []

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if "authorization" in asked.headers:
            if answered.status == 200 and operation(asked):
                shown[:] = [answered]
        elif shown and route(asked):
            return replace(shown[0])
        return answered

    return altering_answers(change)


def unguarded(route: Callable[[Scope], bool], operation: str) -> Callable[[ASGIApp, Backend], ASGIApp]:
    """This route also leads to the operation, and the token checks know it."""
    there = {"method": "POST", "path": operation, "raw_path": operation.encode()}

    def around(app: ASGIApp, _backend: Backend) -> ASGIApp:
        async def routed(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or not route(scope):
                await app(scope, receive, send)
                return
            _UNGUARDED.set(True)
            await app({**scope, **there}, receive, send)

        return routed

    return around


def unverified(route: Callable[[Scope], bool], operation: str = "/orders") -> dict[str, Any]:
    """This route also leads to the operation, without signature verification."""

    def claims(token: str, known: Sequence[validation.Jwk]) -> dict[str, Any] | None:
        if not _UNGUARDED.get():
            return validation.signed_claims(token, known)
        return jwt.decode(token, options={"verify_signature": False})

    return {"around": unguarded(route, operation), "signed_claims": claims}


def lacking(honest: validation.ClaimCheck, route: Callable[[Scope], bool], operation: str) -> dict[str, Any]:
    """This route also leads to the operation, without this check of the token."""

    def wrong(facts: validation.ClaimFacts) -> bool:
        return _UNGUARDED.get() or honest(facts)

    checks = instead(validation.CLAIM_CHECKS, honest, wrong)
    return {"around": unguarded(route, operation), "claim_checks": checks}


def resource_for_everybody() -> Any:
    """The last orders are also an MCP resource, which needs no token to read."""
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

    return altering_answers(change)


_ISSUER, _AUDIENCE, _EXPIRY = validation.CLAIM_CHECKS


def _is_get(scope: Scope) -> bool:
    return bool(scope["method"] == "GET" and scope["path"] == "/orders")


DEFECTS = (
    defect(
        "issuer-looked-at-on-post-alone (CHAL-05): For GET, the service does not check the issuer of the "
        "token.",
        **lacking(_ISSUER, _is_get, "/orders"),
    ),
    defect(
        "audience-looked-at-on-post-alone (CHAL-06): For GET, the service does not check the audience of the "
        "token.",
        **lacking(_AUDIENCE, _is_get, "/orders"),
    ),
    defect(
        "expiry-looked-at-on-post-alone (CHAL-07): For GET, the service does not check the expiry of the "
        "token.",
        **lacking(_EXPIRY, _is_get, "/orders"),
    ),
    defect(
        "audience-looked-at-without-a-version-alone (CHAL-06): At a second version of the path, the service "
        "does not check the audience of the token.",
        **lacking(_AUDIENCE, lambda scope: scope["path"] == "/v1/orders", "/orders"),
    ),
    mcp_defect(
        "mcp-issuer-looked-at-without-a-slash-alone (CHAL-05): With a slash after the path of MCP, the "
        "service does not check the issuer of the token.",
        **lacking(_ISSUER, lambda scope: scope["path"] == "/mcp/", "/mcp"),
    ),
    mcp_defect(
        "mcp-expiry-looked-at-on-post-alone (CHAL-07): For a tool call by PUT, the service does not check "
        "the expiry of the token.",
        **lacking(_EXPIRY, lambda scope: scope["method"] == "PUT" and scope["path"] == "/mcp", "/mcp"),
    ),
    defect(
        "signature-looked-at-on-post-alone (CHAL-04): For GET, the service does not verify the signature of "
        "the token.",
        **unverified(lambda scope: scope["method"] == "GET" and scope["path"] == "/orders"),
    ),
    defect(
        "signature-looked-at-without-a-slash-alone (CHAL-04): With a slash after the path, the service does "
        "not verify the signature of the token.",
        **unverified(lambda scope: scope["path"] == "/orders/"),
    ),
    defect(
        "get-unguarded (CHAL-01): Only POST requires a token; GET shows the last orders without one.",
        around=open_route(lambda asked: asked.method == "GET" and asked.path == "/orders"),
    ),
    defect(
        "put-unguarded (CHAL-01): PUT shows the last orders without a token.",
        around=open_route(lambda asked: asked.method == "PUT" and asked.path == "/orders"),
    ),
    defect(
        "guard-by-the-letter-of-the-path (CHAL-01): The token check compares the path exactly; routing "
        "ignores case and a trailing slash.",
        around=open_route(
            lambda asked: asked.path != "/orders" and asked.path.lower().rstrip("/") == "/orders"
        ),
    ),
    defect(
        "guard-by-the-first-slash (CHAL-01): The token check compares the path exactly; routing ignores "
        "repeated slashes at its beginning.",
        around=open_route(lambda asked: asked.path == "//orders"),
    ),
    defect(
        "options-unguarded (CHAL-01): OPTIONS needs no token, for the sake of browsers, and shows the last "
        "orders.",
        around=open_route(lambda asked: asked.method == "OPTIONS" and asked.path == "/orders"),
    ),
    defect(
        "guard-by-path-and-query (CHAL-01): The token check compares the path with its query; routing "
        "ignores the query.",
        around=open_route(lambda asked: asked.path == "/orders" and bool(asked.query)),
    ),
    defect(
        "guard-by-path-and-parameters (CHAL-01): The token check compares the path with its parameters; "
        "routing ignores the parameters.",
        around=open_route(lambda asked: asked.path.startswith("/orders;")),
    ),
    mcp_defect(
        "mcp-unguarded-at-a-second-path (CHAL-01): The MCP server is also at a second path, which the token "
        "check does not cover.",
        around=open_route(lambda asked: asked.path == "/v1/mcp", of_the_tool),
    ),
    mcp_defect(
        "mcp-guard-by-the-letter-of-the-path (CHAL-01): The token check compares the path of MCP exactly; "
        "routing ignores a trailing slash.",
        around=open_route(lambda asked: asked.path == "/mcp/", of_the_tool),
    ),
    mcp_defect(
        "mcp-put-unguarded (CHAL-01): The token check covers POST; the MCP server takes a tool call by PUT, "
        "too, and answers it without a token.",
        around=open_route(lambda asked: asked.method == "PUT" and asked.path == "/mcp", of_the_tool),
    ),
    mcp_defect(
        "mcp-signature-looked-at-on-post-alone (CHAL-04): For a tool call by PATCH, the service does not "
        "verify the signature of the token.",
        **unverified(lambda scope: scope["method"] == "PATCH" and scope["path"] == "/mcp", "/mcp"),
    ),
    mcp_defect(
        "mcp-signature-looked-at-without-a-slash-alone (CHAL-04): With a slash after the path of MCP, the "
        "service does not verify the signature of the token.",
        **unverified(lambda scope: scope["path"] == "/mcp/", "/mcp"),
    ),
    mcp_defect(
        "mcp-beside-a-page-for-any-audience (CHAL-06): The same orders over HTTP: there the service does not "
        "check the audience of the token.",
        **lacking(_AUDIENCE, lambda scope: scope["path"] == "/orders", "/orders"),
    ),
    mcp_defect(
        "mcp-beside-a-post-for-an-expired-token (CHAL-07): The same orders by POST over HTTP: there the "
        "service does not check the expiry of the token.",
        **lacking(
            _EXPIRY, lambda scope: scope["method"] == "POST" and scope["path"] == "/ucp/v1/orders", "/orders"
        ),
    ),
    mcp_defect(
        "mcp-beside-an-open-page (CHAL-01): The service also shows the last orders over HTTP, without a "
        "token.",
        around=open_route(lambda asked: asked.path == "/orders", of_the_tool),
    ),
    mcp_defect(
        "batch-unguarded (CHAL-01): The token check looks for a tool call in a single message, but not in a "
        "batch.",
        around=open_route(lambda asked: asked.path == "/mcp" and asked.body.startswith(b"["), of_the_tool),
    ),
    mcp_defect(
        "resource-for-everybody (CHAL-01 CHAL-10): The token check covers only tools; a resource shows the "
        "last orders without a token.",
        around=resource_for_everybody(),
    ),
)
