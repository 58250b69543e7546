"""Services whose challenge has a good metadata URL in one part of their code, and a wrong one in another."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.row import defect, mcp_defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.mcp import SESSION

_POINTER = re.compile(r'resource_metadata="([^"]*)"')


def pointing_elsewhere(where: Callable[[Asked], bool], change: Callable[[str], str]) -> dict[str, Any]:
    """Changes the metadata URL in the challenges of some requests."""

    def changed(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        if answered.status != 401 or not where(asked):
            return answered
        headers = tuple(
            (name, _POINTER.sub(lambda found: f'resource_metadata="{change(found[1])}"', value))
            for name, value in answered.headers
        )
        return replace(answered, headers=headers)

    return {"around": altering_answers(changed)}


def in_a_session(asked: Asked) -> bool:
    return SESSION in asked.headers


def lists_tools(asked: Asked) -> bool:
    try:
        message = json.loads(asked.body)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("method") == "tools/list"


def no_bearer(asked: Asked) -> bool:
    """The branch for an Authorization header that does not begin with Bearer."""
    given = asked.headers.get("authorization", "")
    return bool(given) and not given.lower().startswith("bearer")


DEFECTS = (
    mcp_defect(
        "pointer-lost-in-sessions (CHAL-02): In a session, the challenge has undefined in place of the "
        "metadata URL.",
        **pointing_elsewhere(in_a_session, lambda _: "undefined"),
    ),
    mcp_defect(
        "pointer-of-lists-below-the-endpoint (CHAL-02): The challenge for tools/list points to a path where "
        "there is nothing.",
        **pointing_elsewhere(lists_tools, lambda url: f"{url}/mcp"),
    ),
    mcp_defect(
        "pointer-of-streams-is-a-path (CHAL-02): The challenge for a stream has only the path of the "
        "metadata URL.",
        **pointing_elsewhere(
            lambda asked: asked.method == "GET", lambda _: "/.well-known/oauth-protected-resource"
        ),
    ),
    defect(
        "pointer-empty-for-other-schemes (CHAL-02): The challenge for an Authorization header without Bearer "
        "has an empty metadata URL.",
        **pointing_elsewhere(no_bearer, lambda _: ""),
    ),
)
