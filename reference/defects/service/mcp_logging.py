"""MCP services that put the merchant token into log or progress notifications."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.mcp import (
    in_a_notification,
    leaking_merchant_token,
    method_of,
    sse_event,
)
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked
from gateproof.reference.service.mcp import SESSION


def in_the_log_that_was_asked_for() -> Callable[[Asked, Answered, str], Answered]:
    """A session gets log notifications after logging/setLevel."""
    told: set[str] = set()

    def said(asked: Asked, answered: Answered, token: str) -> Answered:
        session = asked.headers.get(SESSION, "")
        if answered.status != 200:
            return answered
        match method_of(asked):
            case "logging/setLevel":
                told.add(session)
                empty = {"jsonrpc": "2.0", "id": json.loads(asked.body).get("id"), "result": {}}
                return replace(answered, body=json.dumps(empty).encode())
            case "tools/call" if session in told:
                return in_a_notification(answered, token)
            case _:
                return answered

    return said


def in_the_progress(asked: Asked, answered: Answered, token: str) -> Answered:
    """A call with a progress token gets a progress notification with the merchant token."""
    number = _progress_token(asked)
    if number is None or method_of(asked) != "tools/call" or answered.status != 200:
        return answered
    params = {"progressToken": number, "progress": 1, "message": f"calling with {token}"}
    message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return replace(answered, body=sse_event(message) + answered.body)


def _progress_token(asked: Asked) -> Any:
    try:
        return json.loads(asked.body)["params"]["_meta"]["progressToken"]
    except (ValueError, KeyError, TypeError):
        return None


DEFECTS = (
    mcp_defect(
        "merchant-token-in-the-log-that-was-asked-for (SECRET-02): After logging/setLevel, the log "
        "notifications contain the merchant token.",
        **leaking_merchant_token(in_the_log_that_was_asked_for()),
    ),
    mcp_defect(
        "merchant-token-in-the-progress (SECRET-02): If a call requests progress, the progress notification "
        "contains the merchant token.",
        **leaking_merchant_token(in_the_progress),
    ),
)
