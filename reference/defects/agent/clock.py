"""Agents that decide by their own clock whether a token has expired, and then fail."""

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


def with_expiry(tokens: Tokens) -> dict[str, Any]:
    """The part of a token response that is stored: the access token and its expiry."""
    return {
        "access_token": tokens["access_token"],
        "expires_at": time.time() + tokens.get("expires_in", _LONG_S),
    }


def is_expired(tokens: Tokens) -> bool:
    """Whether a stored token has expired, or will within AHEAD_S."""
    now = time.time()
    return now > float(tokens.get("expires_at", now + _LONG_S)) - AHEAD_S


def all_with_expiry(tokens: Tokens) -> dict[str, Any]:
    return {**tokens, **with_expiry(tokens)}


def refreshed_by_the_clock(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Refreshes a token if it has expired by the agent's clock, never because it was refused."""
    return refreshed(ask, endpoints, client, kept) if is_expired(kept) else None


def with_another_refresh_token_by_the_clock(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Refreshes a token that has expired by the clock; fails if the response has no new refresh token."""
    return with_another_refresh_token(ask, endpoints, client, kept) if is_expired(kept) else None


def refused_by_the_clock(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Refreshes a token that has expired by the clock; fails if the error is not `invalid_grant`."""
    return refused_in_one_way(ask, endpoints, client, kept) if is_expired(kept) else None


def not_sent_if_expired(tokens: Tokens | None) -> dict[str, str]:
    """Does not send an expired token, so that the service answers with its challenge."""
    return operation.bearer(None if tokens and is_expired(tokens) else tokens)


def failing_if_expired(tokens: Tokens | None) -> dict[str, str]:
    if tokens and is_expired(tokens):
        raise Failed("the sign-in has expired: log in again")
    return operation.bearer(tokens)


DEFECTS = (
    defect(
        "expired-by-its-clock-is-the-end (AGENT-09): The agent fails when its stored token has expired by "
        "its own clock, instead of replacing it.",
        bearer=failing_if_expired,
        worth_keeping=with_expiry,
    ),
    defect(
        "refresh-by-the-clock-without-another-is-the-end (AGENT-09): The agent refreshes a token that has "
        "expired by its clock, and fails if the response has no new refresh token.",
        bearer=not_sent_if_expired,
        worth_keeping=all_with_expiry,
        renewed=with_another_refresh_token_by_the_clock,
    ),
    defect(
        "refused-refresh-by-the-clock-is-the-end (AGENT-09): The agent refreshes a token that has expired "
        "by its clock, and fails if the refresh is refused with another error than invalid_grant.",
        bearer=not_sent_if_expired,
        worth_keeping=all_with_expiry,
        renewed=refused_by_the_clock,
    ),
)
