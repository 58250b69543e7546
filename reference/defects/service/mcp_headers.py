"""MCP services that do not validate MCP headers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import PROTOCOLS, SESSION

# Members that every JavaScript object inherits.
OF_EVERY_OBJECT = frozenset({"__proto__", "constructor", "toString", "hasOwnProperty"})
Change = Callable[[Asked, Answered, Backend], Answered]


def looked_up(*methods: str) -> Change:
    """`const transport = transports[sessionId]; if (transport) transport.handleRequest(...)`."""

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        met = asked.path == "/mcp" and asked.method in methods and answered.status != 401
        if not met or asked.headers.get(SESSION) not in OF_EVERY_OBJECT:
            return answered
        return replace(answered, status=500, body=b"{}")

    return change


def numbered(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """`int(request.headers["last-event-id"])`."""
    event = asked.headers.get("last-event-id", "0")
    if asked.path != "/mcp" or asked.method != "GET" or answered.status == 401 or event.isdigit():
        return answered
    return replace(answered, status=500, body=b"{}")


def known_version(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """`HANDLERS[request.headers["mcp-protocol-version"]]`."""
    version = asked.headers.get("mcp-protocol-version", PROTOCOLS[0])
    dated = len(version) == len(PROTOCOLS[0]) and version.replace("-", "").isdigit()
    if asked.path != "/mcp" or answered.status == 401 or dated:
        return answered
    return replace(answered, status=500, body=b"{}")


DEFECTS = (
    mcp_defect(
        "sessions-looked-up-in-an-object (ROBUST-01): A session ID that names an inherited member of "
        "JavaScript objects, such as constructor, ends in 500.",
        around=altering_answers(looked_up("POST", "GET", "DELETE")),
    ),
    mcp_defect(
        "streams-of-sessions-looked-up-in-an-object (ROBUST-01): A GET with a session ID that names an "
        "inherited member of JavaScript objects ends in 500.",
        around=altering_answers(looked_up("GET")),
    ),
    mcp_defect(
        "ends-of-sessions-looked-up-in-an-object (ROBUST-01): A DELETE with a session ID that names an "
        "inherited member of JavaScript objects ends in 500.",
        around=altering_answers(looked_up("DELETE")),
    ),
    mcp_defect(
        "events-taken-for-numbers (ROBUST-01): Resuming a stream with a Last-Event-ID that is not a number "
        "ends in 500.",
        around=altering_answers(numbered),
    ),
    mcp_defect(
        "versions-taken-for-dates (ROBUST-01): An MCP-Protocol-Version that is not a date ends in 500.",
        around=altering_answers(known_version),
    ),
)
