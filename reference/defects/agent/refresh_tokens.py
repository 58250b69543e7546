"""Agents that refresh their tokens, and are lost where that brings less than they think, or nothing."""

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


def by_basic(asked: Outgoing) -> Outgoing:
    """The same form with the client in a Basic header, as libraries do that are not told otherwise."""
    fields = dict(parse_qsl(asked.body.decode()))
    pair = f"{fields.pop('client_id')}:{fields.pop('client_secret')}"
    return form(asked.url, fields, Authorization=f"Basic {base64.b64encode(pair.encode()).decode()}")


def refreshed_by_basic(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
    return refreshed(lambda asked: ask(by_basic(asked)), endpoints, client, kept)


def refreshed_by_the_query(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """The client is in the query of a refresh, and in its body."""
    secret = {"client_secret": client.client_secret}
    in_the_query = replace(endpoints, token=with_query(endpoints.token, secret))
    return refreshed(ask, in_the_query, client, kept)


def refreshed_again_by_basic(
    ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens
) -> dict[str, Any] | None:
    """Where a refresh fails, the client may be looked for in a header."""

    def twice(asked: Outgoing) -> Answer:
        answer = ask(asked)
        basic = by_basic(asked).headers["Authorization"]
        beside = replace(asked, headers={**asked.headers, "Authorization": basic})
        return answer if answer.status == 200 else ask(beside)

    return refreshed(twice, endpoints, client, kept)


DEFECTS = (
    defect(
        "refresh-with-basic (AGENT-06): A refresh has the client in a Basic header.",
        renewed=refreshed_by_basic,
        worth_keeping=dict,
    ),
    defect(
        "refresh-with-its-secret-in-the-query (AGENT-06): A refresh has the client secret in its query, too.",
        renewed=refreshed_by_the_query,
        worth_keeping=dict,
    ),
    defect(
        "failed-refresh-again-with-basic (AGENT-06): A refresh that fails is made again, with a Basic header "
        "beside the body.",
        renewed=refreshed_again_by_basic,
        worth_keeping=dict,
    ),
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
