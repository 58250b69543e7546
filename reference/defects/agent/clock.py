"""Agents that go by their own clock where a token is concerned, and come to no good."""

from __future__ import annotations

import time
from typing import Any

from gateproof.reference.agent.policy import operation
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.wire import Failed
from gateproof.reference.defects.agent.refresh_tokens import refused_in_one_way, with_another_refresh_token
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


def all_and_its_end(tokens: Tokens) -> dict[str, Any]:
    return {**tokens, **with_its_end(tokens)}


def refreshed_by_the_clock(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """A token is refreshed if it has expired by the clock, never because it was refused."""
    return refreshed(ask, endpoints, client, kept) if is_over(kept) else None


def with_another_refresh_token_by_the_clock(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """`keep(tokens["refresh_token"])`."""
    return with_another_refresh_token(ask, endpoints, client, kept) if is_over(kept) else None


def refused_by_the_clock(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Of all that a refresh may be refused with, only `invalid_grant` leads to the user."""
    return refused_in_one_way(ask, endpoints, client, kept) if is_over(kept) else None


def left_at_home(tokens: Tokens | None) -> dict[str, str]:
    """A kept token that has expired is not sent; the service answers with its challenge."""
    return operation.bearer(None if tokens and is_over(tokens) else tokens)


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
    defect(
        "refresh-by-the-clock-without-another-is-the-end (AGENT-09): An expired token is "
        "refreshed, which has to bring another refresh token.",
        bearer=left_at_home,
        worth_keeping=all_and_its_end,
        renewed=with_another_refresh_token_by_the_clock,
    ),
    defect(
        "refused-refresh-by-the-clock-is-the-end (AGENT-09): An expired token is "
        "refreshed, and a refusal with anything but invalid_grant is the end.",
        bearer=left_at_home,
        worth_keeping=all_and_its_end,
        renewed=refused_by_the_clock,
    ),
)
