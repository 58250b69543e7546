"""MCP services whose sessions belong to one token, not to its user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.service.row import mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION


def bound_to_first_token(status: int) -> Callable[[Asked, Answered, Backend], Answered]:
    """In a session, any token except the one that began it is answered with this status."""
    tokens: dict[str, str] = {}

    def change(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        token = asked.headers.get("authorization", "")
        if begun := answered.header(SESSION):
            tokens[begun] = token
        first = tokens.get(asked.headers.get(SESSION, ""), token)
        if asked.path != "/mcp" or first == token or not 200 <= answered.status < 300:
            return answered
        return replace(answered, status=status, body=b"{}")

    return change


DEFECTS = (
    mcp_defect(
        "refreshed-tokens-refused-in-a-session (SERVE-01): In a session, the service answers 401 to any "
        "token except the one that began it.",
        around=altering_answers(bound_to_first_token(401)),
    ),
    mcp_defect(
        "refreshed-tokens-forbidden-in-a-session (SERVE-01): In a session, the service answers 403 to any "
        "token except the one that began it.",
        around=altering_answers(bound_to_first_token(403)),
    ),
)
