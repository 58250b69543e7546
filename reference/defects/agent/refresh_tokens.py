"""Agents that refresh their tokens, and are lost where that brings less than they think, or nothing."""

from __future__ import annotations

from typing import Any

from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.wire import Failed
from gateproof.reference.defects.agent.later_runs import refreshed_by
from gateproof.reference.defects.agent.row import defect


def with_another_refresh_token(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """`keep(tokens["refresh_token"])`."""
    tokens = refreshed(ask, endpoints, client, kept)
    if tokens is not None and "refresh_token" not in tokens:
        raise Failed("the refresh brought no refresh token")
    return tokens


def refused_in_one_way(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """Of all that a refresh may be refused with, only `invalid_grant` leads to the user."""
    tokens, answer = refreshed_by(ask, endpoints, client, kept)
    if tokens is None and answer is not None and answer.document().get("error") != "invalid_grant":
        raise Failed(f"the token cannot be refreshed: status {answer.status}")
    return tokens


DEFECTS = (
    defect(
        "refresh-without-another-is-the-end (AGENT-09): A refresh has to bring another refresh token.",
        renewed=with_another_refresh_token,
        worth_keeping=dict,
    ),
    defect(
        "refused-refresh-is-the-end (AGENT-09): A refresh that is refused with anything but invalid_grant "
        "is the end.",
        renewed=refused_in_one_way,
        worth_keeping=dict,
    ),
)
