"""Agents whose callback page sets a cookie with a secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.secrets import Facts, in_base64


def cookie(step: str, content: Callable[[Facts], str]) -> dict[str, Any]:
    """Sets a session cookie on the callback page, with `content` of the facts of this step."""
    known: list[str] = []

    def told(where: str, facts: Facts) -> None:
        if where == step:
            known[:] = [content(facts)]

    def headers() -> dict[str, str]:
        return {"Set-Cookie": f"session={known[0]}; HttpOnly; Secure"} if known and known[0] else {}

    return {"told": told, "page_headers": headers}


def client(facts: Facts) -> str:
    return in_base64(json.dumps({"client": {"secret": facts["client"].client_secret}}))


def kept_tokens(facts: Facts) -> str:
    """The refresh token that was stored before this sign-in."""
    tokens = facts["tokens"]
    return in_base64(json.dumps({"refresh": tokens["refresh_token"]})) if "refresh_token" in tokens else ""


DEFECTS = (
    defect(
        "client-secret-in-a-cookie (AGENT-14): The callback page sets a cookie with the client secret in "
        "base64.",
        **cookie("registration", client),
    ),
    defect(
        "verifier-in-a-cookie (AGENT-14): The callback page sets a cookie with the verifier.",
        **cookie("authorization", lambda facts: facts["attempt"].verifier),
    ),
    defect(
        "refresh-token-in-a-cookie (AGENT-14): The callback page sets a cookie with the stored refresh "
        "token.",
        **cookie("operation", kept_tokens),
        worth_keeping=dict,
    ),
    defect(
        "access-token-in-a-cookie (AGENT-18): The callback page sets a cookie with the stored access token.",
        **cookie("operation", lambda facts: facts["tokens"].get("access_token", "")),
    ),
)
