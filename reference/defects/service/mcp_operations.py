"""MCP services that check the token for some operations and not for others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import jwt

from gateproof.reference.defects.service.mcp import method_of
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import PROTOCOLS, SESSION, TOOL

JSON = (("content-type", "application/json"),)
HOURS = {
    "name": "store_hours",
    "description": "Says when the store is open.",
    "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
}
_URI = "store://hours"
_TEXT = "from nine to five"
_RESULTS: Mapping[str, dict[str, Any]] = {
    "tools/list": {"tools": [TOOL]},
    "resources/list": {"resources": [{"uri": _URI, "name": "hours"}]},
    "resources/read": {"contents": [{"uri": _URI, "mimeType": "text/plain", "text": _TEXT}]},
    "prompts/list": {"prompts": [{"name": "plan", "arguments": [{"name": "day", "required": True}]}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": _TEXT}}]},
    "completion/complete": {"completion": {"values": ["monday"], "hasMore": False}},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "store://{day}", "name": "hours"}]},
    "resources/subscribe": {},
    "logging/setLevel": {},
}
Change = Callable[[Asked, Answered, Backend], Answered]


def json_rpc_result(asked: Asked, result: dict[str, Any]) -> Answered:
    body = json.dumps({"jsonrpc": "2.0", "id": json.loads(asked.body).get("id"), "result": result})
    return Answered(status=200, headers=JSON, body=body.encode())


def json_rpc_error(asked: Asked, code: int, status: int = 200) -> Answered:
    error = {"code": code, "message": "no"}
    body = json.dumps({"jsonrpc": "2.0", "id": json.loads(asked.body).get("id"), "error": error})
    return Answered(status=status, headers=JSON, body=body.encode())


def result_of(asked: Asked, more: bool) -> dict[str, Any] | None:
    """The result of the method on an authorized request; `more` adds operations to the reference's."""
    method = method_of(asked)
    if method == "tools/list":
        return {"tools": [TOOL, HOURS]} if more else _RESULTS[method]
    if method == "tools/call":
        params = json.loads(asked.body).get("params")
        called = params.get("name") if isinstance(params, dict) else None
        text = {"content": [{"type": "text", "text": _TEXT}], "isError": False}
        return text if more and called == HOURS["name"] else None
    return _RESULTS.get(method) if more else None


def with_more_operations(asked: Asked, answered: Answered) -> Answered:
    """Adds operations that have the same token check."""
    result = result_of(asked, more=True) if asked.path == "/mcp" and answered.status == 200 else None
    return json_rpc_result(asked, result) if result is not None else answered


def open_to(may: Callable[[Asked], bool], *methods: str, more: bool = True) -> dict[str, Any]:
    """These methods need no valid token if `may` is true for the request; all others need one."""

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if more:
            answered = with_more_operations(asked, answered)
        is_open = asked.path == "/mcp" and answered.status == 401 and method_of(asked) in methods
        result = result_of(asked, more) if is_open and may(asked) else None
        return json_rpc_result(asked, result) if result is not None else answered

    return {"around": altering_answers(change)}


def any_request(_asked: Asked) -> bool:
    return True


def without_token(asked: Asked) -> bool:
    """True for a request without a token."""
    return "authorization" not in asked.headers


def in_a_session(asked: Asked) -> bool:
    return SESSION in asked.headers


def with_a_readable_token(asked: Asked) -> bool:
    """True for a token that can be decoded; its signature is not verified."""
    try:
        jwt.decode(
            asked.headers.get("authorization", "").removeprefix("Bearer "),
            options={"verify_signature": False},
        )
    except jwt.InvalidTokenError:
        return False
    return True


def refusing(otherwise: Callable[[Asked, Answered], Answered]) -> dict[str, Any]:
    """Operations other than tools/call are refused in another way."""
    others = set(_RESULTS)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        is_other = asked.path == "/mcp" and answered.status == 401 and method_of(asked) in others
        return otherwise(asked, answered) if is_other else answered

    return {"around": altering_answers(change)}


def without_the_challenge(_asked: Asked, answered: Answered) -> Answered:
    kept = tuple(pair for pair in answered.headers if pair[0] != "www-authenticate")
    return replace(answered, headers=kept)


def unchallenged(matches: Callable[[Asked], bool], answer: Callable[[Asked], Answered]) -> dict[str, Any]:
    """A request that `matches`, without token and session, gets this answer."""

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        mine = asked.path == "/mcp" and without_token(asked) and SESSION not in asked.headers
        return answer(asked) if mine and answered.status == 401 and matches(asked) else answered

    return {"around": altering_answers(change)}


def begun(asked: Asked) -> Answered:
    result = {
        "protocolVersion": PROTOCOLS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "reference service", "version": "1"},
    }
    return json_rpc_result(asked, result).with_header(SESSION, "of-nobody")


def streaming(_asked: Asked) -> Answered:
    return Answered(status=200, headers=(("content-type", "text/event-stream"),), body=b": welcome\n\n")


def streams_for_some(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """With a valid token, GET opens a stream; without one it is answered 405."""
    if asked.path != "/mcp" or asked.method != "GET":
        return answered
    return Answered(status=405, headers=(), body=b"") if answered.status == 401 else streaming(asked)


DEFECTS = (
    mcp_defect(
        "tools-listed-for-everybody (CHAL-10): The list of tools needs no token.",
        **open_to(any_request, "tools/list", more=False),
    ),
    mcp_defect(
        "tools-listed-in-a-session (CHAL-10): In a session, the list of tools needs no token.",
        **open_to(in_a_session, "tools/list", more=False),
    ),
    mcp_defect(
        "tools-listed-for-readable-tokens (CHAL-10): For the list of tools, the service does not verify the "
        "signature of the token.",
        **open_to(with_a_readable_token, "tools/list", more=False),
    ),
    mcp_defect(
        "other-tool-for-everybody (CHAL-10): Only the tool that shows orders requires a token; another tool "
        "does not.",
        **open_to(any_request, "tools/call"),
    ),
    mcp_defect(
        "resources-listed-for-everybody (CHAL-10): The list of resources needs no token.",
        **open_to(without_token, "resources/list"),
    ),
    mcp_defect(
        "resource-read-by-everybody (CHAL-10): Reading a resource needs no token.",
        **open_to(without_token, "resources/read"),
    ),
    mcp_defect(
        "prompts-listed-for-everybody (CHAL-10): The list of prompts needs no token.",
        **open_to(without_token, "prompts/list"),
    ),
    mcp_defect(
        "prompt-got-by-everybody (CHAL-10): Getting a prompt needs no token.",
        **open_to(any_request, "prompts/get"),
    ),
    mcp_defect(
        "completion-for-everybody (CHAL-10): Completing an argument needs no token.",
        **open_to(without_token, "completion/complete"),
    ),
    mcp_defect(
        "other-operations-forbidden (CHAL-10): Without a valid token, the service answers operations other "
        "than tools/call with 403.",
        **refusing(lambda _asked, answered: replace(answered, status=403)),
    ),
    mcp_defect(
        "other-operations-refused-in-json-rpc (CHAL-10): Without a valid token, the service answers "
        "operations other than tools/call with 200 and a JSON-RPC error.",
        **refusing(lambda asked, _answered: json_rpc_error(asked, -32001)),
    ),
    mcp_defect(
        "other-operations-without-the-challenge (CHAL-10): Without a valid token, the service answers "
        "operations other than tools/call with 401 without the challenge.",
        **refusing(without_the_challenge),
    ),
    mcp_defect(
        "other-operations-hidden (CHAL-10): Without a valid token, the service answers operations other than "
        "tools/call as if the method did not exist.",
        **refusing(lambda asked, _answered: json_rpc_error(asked, -32601)),
    ),
    mcp_defect(
        "initialize-for-everybody (CHAL-11): The service begins a session without a token.",
        **unchallenged(lambda asked: method_of(asked) == "initialize", begun),
    ),
    mcp_defect(
        "ping-for-everybody (CHAL-11): A ping needs no token.",
        **unchallenged(lambda asked: method_of(asked) == "ping", lambda asked: json_rpc_result(asked, {})),
    ),
    mcp_defect(
        "notifications-for-everybody (CHAL-11): A notification needs no token.",
        **unchallenged(
            lambda asked: method_of(asked).startswith("notifications/"),
            lambda _: Answered(status=202, headers=(), body=b""),
        ),
    ),
    mcp_defect(
        "stream-without-a-session (CHAL-11): A GET stream without a session ID needs no token.",
        **unchallenged(lambda asked: asked.method == "GET", streaming),
    ),
    mcp_defect(
        "stream-denied-to-strangers (CHAL-11): Without a valid token, the service answers 405 to a GET, as "
        "if it had no stream.",
        around=altering_answers(streams_for_some),
    ),
    mcp_defect(
        "end-without-a-session (CHAL-11): A DELETE without a session ID needs no token.",
        **unchallenged(
            lambda asked: asked.method == "DELETE", lambda _: Answered(status=204, headers=(), body=b"")
        ),
    ),
)
