"""Other legal operations of an MCP server, and other legal answers to requests for unknown ones."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.types import ASGIApp

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.mcp_operations import json_rpc_error, with_more_operations
from gateproof.reference.defects.service.mcp_result_resources import linked, listed, of_its_user
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION, TOOL
from gateproof.reference.variants.variant import mcp_variant

_KNOWN = {"initialize", "ping", "tools/list", "tools/call"}


def _changing(change: Callable[[Asked, Answered], Answered]) -> Callable[[ASGIApp, Backend], ASGIApp]:
    def told(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        return change(asked, answered) if asked.path == "/mcp" else answered

    return altering_answers(told)


def _is_unknown(asked: Asked) -> bool:
    method = method_of(asked)
    return bool(method) and method not in _KNOWN and not method.startswith("notifications/")


def _unknown_by(status: int) -> Callable[[Asked, Answered], Answered]:
    """Refuses an unknown method before it validates the token."""

    def change(asked: Asked, answered: Answered) -> Answered:
        return json_rpc_error(asked, -32601, status) if _is_unknown(asked) else answered

    return change


def _sessions_first(status: int) -> Callable[[Asked, Answered], Answered]:
    """Refuses a request without a session ID before it validates the token."""

    def change(asked: Asked, answered: Answered) -> Answered:
        if SESSION in asked.headers or method_of(asked) == "initialize" or answered.status != 401:
            return answered
        error = {"code": -32000, "message": "no session"}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        return Answered(status=status, headers=(("content-type", "application/json"),), body=body)

    return change


def _arguments_first(asked: Asked, answered: Answered) -> Answered:
    """Refuses a call of an unknown tool before it validates the token."""
    if method_of(asked) != "tools/call":
        return answered
    params = json.loads(asked.body).get("params")
    names_it = isinstance(params, dict) and params.get("name") == TOOL["name"]
    return answered if names_it else json_rpc_error(asked, -32602)


VARIANTS = (
    mcp_variant(
        "results-linked-for-their-user: the result of a call links to a resource with the orders, which "
        "only its user can read",
        around=altering_answers(linked(of_its_user)),
    ),
    mcp_variant(
        "last-orders-as-a-resource-of-their-user: the orders of a user's last call are a resource that only "
        "this user can read",
        around=altering_answers(listed(of_its_user)),
    ),
    mcp_variant(
        "more-to-ask-for: the service has another tool, a resource, a prompt and completion, which require "
        "a token, too",
        around=_changing(with_more_operations),
    ),
    mcp_variant(
        "unknown-methods-by-404: the service answers an unknown method with 404, with or without a token",
        around=_changing(_unknown_by(404)),
    ),
    mcp_variant(
        "unknown-methods-by-error: the service answers an unknown method with the error -32601, with or "
        "without a token",
        around=_changing(_unknown_by(200)),
    ),
    mcp_variant(
        "sessions-first-by-400: the service answers 400 to a request without a session ID before it "
        "validates the token",
        around=_changing(_sessions_first(400)),
    ),
    mcp_variant(
        "sessions-first-by-404: the service answers 404 to a request without a session ID before it "
        "validates the token",
        around=_changing(_sessions_first(404)),
    ),
    mcp_variant(
        "arguments-first: the service refuses a call of an unknown tool before it validates the token",
        around=_changing(
            lambda asked, answered: _arguments_first(asked, with_more_operations(asked, answered))
        ),
    ),
)
