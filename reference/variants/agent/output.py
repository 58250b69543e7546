"""Agents that print a code or a verifier; the rules do not say whether they may."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.defects.agent.secrets import Facts, in_base64, printed_at
from gateproof.reference.variants.variant import variant


def refused_exchange(facts: Facts) -> str | None:
    made = facts["facts"]
    return (
        None
        if facts["answer"].status == 200
        else f"code {made.code} with {made.attempt.verifier} was refused"
    )


def failed_exchange(facts: Facts) -> str | None:
    """Prints the verifier after a 5xx, because the server may not have seen it."""
    failed = facts["answer"].status >= 500
    return f"will prove it later with {facts['facts'].attempt.verifier}" if failed else None


def what_came_to_nothing() -> dict[str, Any]:
    """Prints the verifier at the end of a run if no code came for it."""
    waiting: list[str] = []

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "authorization":
            waiting[:] = [facts["attempt"].verifier]
        elif step == "exchange":
            waiting.clear()

    def around(run: Callable[[], int]) -> int:
        code = run()
        if waiting:
            print(f"no code came for {waiting[0]}.")
        return code

    return {"told": told, "around": around}


def session_of_its_own() -> dict[str, Any]:
    """Sets a session cookie; the data of the session stays in the agent."""
    sessions: dict[str, Any] = {}

    def told(step: str, facts: Mapping[str, Any]) -> None:
        if step == "authorization":
            sessions[secrets.token_urlsafe(32)] = facts["attempt"]

    def headers() -> dict[str, str]:
        name = next(reversed(sessions), "none")
        return {"Set-Cookie": f"session={name}; HttpOnly; Secure", "X-Request-Id": secrets.token_hex(16)}

    return {"told": told, "page_headers": headers}


VARIANTS = (
    variant(
        "callback-with-a-session: the callback page sets a random session cookie that only the agent can "
        "interpret",
        **session_of_its_own(),
    ),
    variant(
        "redirect-printed: the agent prints the redirect as a line of an access log",
        **printed_at("redirect", lambda facts: f'127.0.0.1 - - "GET {facts["path"]} HTTP/1.1" 200'),
    ),
    variant(
        "verifier-printed-in-base64: the agent prints the verifier in base64 as debug output",
        **printed_at("authorization", lambda facts: f"debug: {in_base64(facts['attempt'].verifier)}"),
    ),
    variant(
        "refused-exchange-printed: the agent prints the code and the verifier of an exchange that failed",
        **printed_at("exchange", refused_exchange),
    ),
    variant(
        "verifier-printed-when-the-gateway-fails: the agent prints the verifier after an exchange that "
        "failed with 5xx",
        **printed_at("exchange", failed_exchange),
    ),
    variant(
        "verifier-printed-where-no-code-comes: the agent prints the verifier if no code comes for it",
        **what_came_to_nothing(),
    ),
)
