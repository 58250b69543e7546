"""MCP services that keep the result of a call as a resource."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from gateproof.reference.defects.service.cached_users import user_of
from gateproof.reference.defects.service.mcp import method_of, sse_event
from gateproof.reference.defects.service.mcp_operations import json_rpc_result
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend

Whose = Callable[[Asked], str]
_LAST = "orders://last"


def of_all_users(_asked: Asked) -> str:
    """One store for the results of all users."""
    return ""


def of_its_user(asked: Asked) -> str:
    return user_of(asked.headers)


def linked(whose: Whose) -> Callable[[Asked, Answered, Backend], Answered]:
    """The tool result links to a numbered resource with the same orders."""
    kept: dict[tuple[str, str], str] = {}
    numbers = count(1)

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if asked.path != "/mcp" or answered.status != 200:
            return answered
        if method_of(asked) == "resources/read":
            return _read(asked, answered, kept.get((whose(asked), _uri_of(asked))))
        said = _result_of(asked, answered)
        if said is None:
            return answered
        uri = f"orders://result/{next(numbers)}"
        content = said["result"]["content"]
        kept[whose(asked), uri] = content[0]["text"]
        content.append({"type": "resource_link", "uri": uri, "name": "orders"})
        return replace(answered, body=sse_event(said))

    return change


def listed(whose: Whose) -> Callable[[Asked, Answered, Backend], Answered]:
    """The orders of the last call are a resource."""
    last: dict[str, str] = {}

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if asked.path != "/mcp" or answered.status != 200:
            return answered
        match method_of(asked):
            case "resources/list":
                return json_rpc_result(asked, {"resources": [{"uri": _LAST, "name": "the last orders"}]})
            case "resources/read" if _uri_of(asked) == _LAST:
                return _read(asked, answered, last.get(whose(asked), "none"))
            case _:
                said = _result_of(asked, answered)
                if said is not None:
                    last[whose(asked)] = said["result"]["content"][0]["text"]
                return answered

    return change


def described() -> Callable[[Asked, Answered, Backend], Answered]:
    """The list of resources describes one by the orders of the last call; each user reads their own."""
    by_user, last = listed(of_its_user), list[str]()

    def change(asked: Asked, answered: Answered, backend: Backend) -> Answered:
        if asked.path != "/mcp" or answered.status != 200:
            return answered
        if method_of(asked) == "resources/list":
            orders = {"uri": _LAST, "name": "orders", "description": last[0] if last else ""}
            return json_rpc_result(asked, {"resources": [orders]})
        if (said := _result_of(asked, answered)) is not None:
            last[:] = [said["result"]["content"][0]["text"]]
        return by_user(asked, answered, backend)

    return change


def _read(asked: Asked, answered: Answered, text: str | None) -> Answered:
    content = {"uri": _uri_of(asked), "mimeType": "application/json", "text": text}
    return json_rpc_result(asked, {"contents": [content]}) if text is not None else answered


def _uri_of(asked: Asked) -> str:
    params = json.loads(asked.body).get("params")
    return str(params.get("uri")) if isinstance(params, dict) else ""


def _result_of(asked: Asked, answered: Answered) -> dict[str, Any] | None:
    """The message with the result of a tool call."""
    if method_of(asked) != "tools/call" or b'"isError": false' not in answered.body:
        return None
    data = next(line for line in answered.body.split(b"\n") if line.startswith(b"data: "))
    message: dict[str, Any] = json.loads(data.removeprefix(b"data: "))
    return message


DEFECTS = (
    mcp_defect(
        "results-linked-for-everybody (BACK-10): The tool result links to a resource with the orders, which "
        "any user with a valid token can read.",
        around=altering_answers(linked(of_all_users)),
    ),
    mcp_defect(
        "last-orders-as-a-resource (BACK-10): The orders of the last call are a resource, which any user "
        "with a valid token can read.",
        around=altering_answers(listed(of_all_users)),
    ),
    mcp_defect(
        "last-orders-in-the-list-of-resources (BACK-10): The list of resources describes one by the orders "
        "of the last call, whoever reads it.",
        around=altering_answers(described()),
    ),
)
