"""The operation as an MCP tool call over streamable HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.wire import Answer, Outgoing

_PROTOCOL = "2025-06-18"
_ACCEPT = "application/json, text/event-stream"
_SESSION = "mcp-session-id"
_HELLO = {
    "protocolVersion": _PROTOCOL,
    "capabilities": {},
    "clientInfo": {"name": "reference agent", "version": "1"},
}


def call_tool(settings: Settings, ask: Ask, authorization: Mapping[str, str]) -> Answer:
    """Sends three messages; returns the first answer that is not a success, else the last."""
    headers = {"Content-Type": "application/json", "Accept": _ACCEPT, **authorization}
    url = f"{settings.service_url}/mcp"

    def tell(method: str, **members: Any) -> Answer:
        body = json.dumps({"jsonrpc": "2.0", "method": method, **members}).encode()
        return ask(Outgoing(method="POST", url=url, headers=headers, body=body))

    met = tell("initialize", id=1, params=_HELLO)
    if met.status != 200:
        return met
    headers["MCP-Protocol-Version"] = _PROTOCOL
    headers.update((_SESSION, value) for value in met.headers_named(_SESSION))
    told = tell("notifications/initialized")
    if told.status >= 400:
        return told
    called = tell("tools/call", id=2, params={"name": "list_orders", "arguments": {}})
    return Answer(status=200, body=_text_in(called)) if called.status == 200 else called


def _text_in(called: Answer) -> bytes:
    """The text of the tool's result, from JSON or from an event stream."""
    text = called.body.decode("utf-8", "replace")
    lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    try:
        content = json.loads("".join(lines) or text)["result"]["content"]
        return "".join(str(part["text"]) for part in content if part["type"] == "text").encode()
    except (ValueError, LookupError, TypeError):
        return b""
