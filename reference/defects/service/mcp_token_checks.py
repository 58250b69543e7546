"""MCP services whose token check depends on the method of a message, or covers a part of the token."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import jwt

from gateproof.reference.defects.service.mcp_operations import JSON, any_request, open_to, without_token
from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import TOOL


def claims_of(asked: Asked) -> Mapping[str, Any]:
    token = asked.headers.get("authorization", "").removeprefix("Bearer ")
    try:
        return jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return {}


def has_expired(asked: Asked) -> bool:
    """True for an expired token. Tokens with another fault are not expired in the checks."""
    exp = claims_of(asked).get("exp")
    return isinstance(exp, int) and exp < time.time()


def is_of_an_agent(asked: Asked) -> bool:
    """True for an ID token, which the core has signed too."""
    return claims_of(asked).get("aud") == ["agent_1"]


def batches_open_to(may: Callable[[list[Any]], bool]) -> dict[str, Any]:
    """A token check that depends on the method lets some batches pass, because a batch has no method."""

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        batch = _batch_of(asked)
        if batch is None or (answered.status == 401 and not may(batch)):
            return answered
        results = [_answered(message) for message in batch if isinstance(message, dict)]
        return Answered(status=200, headers=JSON, body=json.dumps(results).encode())

    return {"around": altering_answers(change)}


def _batch_of(asked: Asked) -> list[Any] | None:
    try:
        batch = json.loads(asked.body)
    except (ValueError, RecursionError):
        return None
    return batch if asked.path == "/mcp" and isinstance(batch, list) and batch else None


def _answered(message: Mapping[str, Any]) -> dict[str, Any]:
    said = {"jsonrpc": "2.0", "id": message.get("id")}
    match message.get("method"):
        case "tools/list":
            return {**said, "result": {"tools": [TOOL]}}
        case "initialize" | "ping":
            return {**said, "result": {}}
        case _:
            return {**said, "error": {"code": -32601, "message": "no"}}


def _any(batch: list[Any]) -> bool:
    return bool(batch)


def _initializes(batch: list[Any]) -> bool:
    """`body.some(isInitializeRequest)`."""
    return any(isinstance(message, dict) and message.get("method") == "initialize" for message in batch)


DEFECTS = (
    mcp_defect(
        "batches-unguarded (CHAL-10): The token check depends on the method of a message, so a batch, which "
        "has none, needs no token.",
        **batches_open_to(_any),
    ),
    mcp_defect(
        "batches-that-initialize-unguarded (CHAL-10): A batch that contains initialize needs no token.",
        **batches_open_to(_initializes),
    ),
    mcp_defect(
        "templates-listed-for-everybody (CHAL-10): The list of resource templates needs no token.",
        **open_to(any_request, "resources/templates/list"),
    ),
    mcp_defect(
        "subscriptions-for-everybody (CHAL-10): Subscribing to a resource needs no token.",
        **open_to(without_token, "resources/subscribe"),
    ),
    mcp_defect(
        "tools-listed-for-expired-tokens (CHAL-10): For the list of tools, the service does not check the "
        "expiry of the token.",
        **open_to(has_expired, "tools/list", more=False),
    ),
    mcp_defect(
        "tools-listed-for-id-tokens (CHAL-10): For the list of tools, the service accepts an ID token of an "
        "agent.",
        **open_to(is_of_an_agent, "tools/list", more=False),
    ),
)
