"""Agents that print a code or a verifier: the rules leave open whether they may."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from gateproof.reference.defects.agent.secrets import Facts, at, in_base64
from gateproof.reference.variants.variant import variant


def refused_exchange(facts: Facts) -> str | None:
    made = facts["facts"]
    return (
        None
        if facts["answer"].status == 200
        else f"code {made.code} with {made.attempt.verifier} was refused"
    )


def failed_exchange(facts: Facts) -> str | None:
    """A server that is down has never seen the verifier, and it is as good as before."""
    failed = facts["answer"].status >= 500
    return f"will prove it later with {facts['facts'].attempt.verifier}" if failed else None


def what_came_to_nothing() -> dict[str, Any]:
    """Whoever wonders at the end why nothing came is told what it was waited for with."""
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
    """The browser is told apart by a cookie; what belongs to its session stays with the agent."""
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
        "callback-with-a-session: The callback sets a cookie that means something to the agent alone.",
        **session_of_its_own(),
    ),
    variant(
        "redirect-printed: The redirect is printed as a web server prints what it is asked.",
        **at("redirect", lambda facts: f'127.0.0.1 - - "GET {facts["path"]} HTTP/1.1" 200'),
    ),
    variant(
        "verifier-printed-in-base64: Debug output has the verifier in base64.",
        **at("authorization", lambda facts: f"debug: {in_base64(facts['attempt'].verifier)}"),
    ),
    variant(
        "refused-exchange-printed: An exchange that was refused is printed.",
        **at("exchange", refused_exchange),
    ),
    variant(
        "verifier-printed-when-the-gateway-fails: The verifier is printed where the token endpoint fails.",
        **at("exchange", failed_exchange),
    ),
    variant(
        "verifier-printed-where-no-code-comes: The verifier is printed where no code comes for it.",
        **what_came_to_nothing(),
    ),
)
