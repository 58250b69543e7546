"""Other legal things for an MCP server to have, and legal answers to whoever asks for them."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.types import ASGIApp

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.mcp_left_behind import linked, listed, of_its_user
from gateproof.reference.defects.service.mcp_operations import failed, having_more
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION, TOOL
from gateproof.reference.variants.variant import mcp_variant

_KNOWN = {"initialize", "ping", "tools/list", "tools/call"}


def _changing(change: Callable[[Asked, Answered], Answered]) -> Callable[[ASGIApp, Backend], ASGIApp]:
    def told(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        return change(asked, answered) if asked.path == "/mcp" else answered

    return meddling(told)


def _is_unknown(asked: Asked) -> bool:
    method = method_of(asked)
    return bool(method) and method not in _KNOWN and not method.startswith("notifications/")


def _unknown_by(status: int) -> Callable[[Asked, Answered], Answered]:
    """A method that there is not is refused before anybody looks at the token."""

    def change(asked: Asked, answered: Answered) -> Answered:
        return failed(asked, -32601, status) if _is_unknown(asked) else answered

    return change


def _sessions_first(status: int) -> Callable[[Asked, Answered], Answered]:
    """Whoever names no session is told so before anybody looks at the token."""

    def change(asked: Asked, answered: Answered) -> Answered:
        if SESSION in asked.headers or method_of(asked) == "initialize" or answered.status != 401:
            return answered
        error = {"code": -32000, "message": "no session"}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        return Answered(status=status, headers=(("content-type", "application/json"),), body=body)

    return change


def _arguments_first(asked: Asked, answered: Answered) -> Answered:
    """A tool call whose arguments are not as the tool wants them is refused before the token is looked at."""
    if method_of(asked) != "tools/call":
        return answered
    params = json.loads(asked.body).get("params")
    names_it = isinstance(params, dict) and params.get("name") == TOOL["name"]
    return answered if names_it else failed(asked, -32602)


VARIANTS = (
    mcp_variant(
        "results-linked-for-their-user: The result of a call links to a resource with the orders, for its "
        "user alone",
        around=meddling(linked(of_its_user)),
    ),
    mcp_variant(
        "last-orders-as-a-resource-of-their-user: The orders of a user's last call are a resource of theirs",
        around=meddling(listed(of_its_user)),
    ),
    mcp_variant(
        "more-to-ask-for: There are another tool, a resource, a prompt and completion, behind the same guard",
        around=_changing(having_more),
    ),
    mcp_variant(
        "unknown-methods-by-404: A method that there is not is answered 404 to everybody",
        around=_changing(_unknown_by(404)),
    ),
    mcp_variant(
        "unknown-methods-by-error: A method that there is not is answered -32601 to everybody",
        around=_changing(_unknown_by(200)),
    ),
    mcp_variant(
        "sessions-first-by-400: Who names no session is answered 400 before the token is looked at",
        around=_changing(_sessions_first(400)),
    ),
    mcp_variant(
        "sessions-first-by-404: Who names no session is answered 404 before the token is looked at",
        around=_changing(_sessions_first(404)),
    ),
    mcp_variant(
        "arguments-first: Another tool than there is is refused for its arguments, whoever calls",
        around=_changing(lambda asked, answered: _arguments_first(asked, having_more(asked, answered))),
    ),
)
