"""Agents that go by their own clock where a token is concerned, and come to no good."""

from __future__ import annotations

import time
from typing import Any

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.operation import Tokens
from gateproof.reference.agent.wire import Failed
from gateproof.reference.defects.agent.row import defect

AHEAD_S = 60
_LONG_S = 3600


def with_its_end(tokens: Tokens) -> dict[str, Any]:
    """What is kept of a token, and when it will have expired."""
    return {
        "access_token": tokens["access_token"],
        "expires_at": time.time() + tokens.get("expires_in", _LONG_S),
    }


def is_over(tokens: Tokens) -> bool:
    """A kept token that has expired, or is about to."""
    now = time.time()
    return now > float(tokens.get("expires_at", now + _LONG_S)) - AHEAD_S


def told_to_come_back(tokens: Tokens | None) -> dict[str, str]:
    if tokens and is_over(tokens):
        raise Failed("the sign-in has expired: log in again")
    return operation.bearer(tokens)


DEFECTS = (
    defect(
        "expired-by-its-clock-is-the-end (AGENT-09): A kept token that has expired by its own clock ends "
        "the run.",
        bearer=told_to_come_back,
        worth_keeping=with_its_end,
    ),
)
