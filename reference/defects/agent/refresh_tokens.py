"""Agents that send refreshes in a wrong form, or fail when a refresh returns less than they expect."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.wire import Answer, Failed, Outgoing, form, with_query
from gateproof.reference.defects.agent.later_runs import refreshed_by
from gateproof.reference.defects.agent.row import defect


def with_another_refresh_token(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Fails at `tokens["refresh_token"]` if the refresh returns no refresh token."""
    tokens = refreshed(ask, endpoints, client, kept)
    if tokens is not None and "refresh_token" not in tokens:
        raise Failed("the refresh brought no refresh token")
    return tokens


def refused_in_one_way(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    """Fails if a refresh is refused with another error than `invalid_grant`."""
    tokens, answer = refreshed_by(ask, endpoints, client, kept)
    if tokens is None and answer is not None and answer.document().get("error") != "invalid_grant":
        raise Failed(f"the token cannot be refreshed: status {answer.status}")
    return tokens


def by_basic(asked: Outgoing) -> Outgoing:
    """The same form with the client in a Basic header, the default of some libraries."""
    fields = dict(parse_qsl(asked.body.decode()))
    pair = f"{fields.pop('client_id')}:{fields.pop('client_secret')}"
    return form(asked.url, fields, Authorization=f"Basic {base64.b64encode(pair.encode()).decode()}")


def refreshed_by_basic(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    return refreshed(lambda asked: ask(by_basic(asked)), endpoints, client, kept)


def refreshed_by_the_query(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Sends the client secret in the query of a refresh, and in its body."""
    secret = {"client_secret": client.client_secret}
    in_the_query = replace(endpoints, token=with_query(endpoints.token, secret))
    return refreshed(ask, in_the_query, client, kept)


def refreshed_again_by_basic(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Repeats a failed refresh with a Basic header."""

    def twice(asked: Outgoing) -> Answer:
        answer = ask(asked)
        basic = by_basic(asked).headers["Authorization"]
        beside = replace(asked, headers={**asked.headers, "Authorization": basic})
        return answer if answer.status == 200 else ask(beside)

    return refreshed(twice, endpoints, client, kept)


DEFECTS = (
    defect(
        "refresh-with-basic (AGENT-06): The agent sends the client credentials of a refresh in a Basic "
        "header.",
        renewed=refreshed_by_basic,
        worth_keeping=dict,
    ),
    defect(
        "refresh-with-its-secret-in-the-query (AGENT-06): The agent sends the client secret of a refresh in "
        "the query, too.",
        renewed=refreshed_by_the_query,
        worth_keeping=dict,
    ),
    defect(
        "failed-refresh-again-with-basic (AGENT-06): The agent repeats a failed refresh with a Basic header "
        "in addition to the body.",
        renewed=refreshed_again_by_basic,
        worth_keeping=dict,
    ),
    defect(
        "refresh-without-another-is-the-end (AGENT-09): The agent fails if a refresh returns no new refresh "
        "token.",
        renewed=with_another_refresh_token,
        worth_keeping=dict,
    ),
    defect(
        "refused-refresh-is-the-end (AGENT-09): The agent fails if a refresh is refused with another error "
        "than invalid_grant.",
        renewed=refused_in_one_way,
        worth_keeping=dict,
    ),
)
