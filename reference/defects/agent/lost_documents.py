"""Agents that assume endpoints when a document cannot be read, or was not read in this run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from gateproof.reference.agent.policy import authorization, discovery, operation
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask
from gateproof.reference.agent.settings import Settings
from gateproof.reference.agent.state import State
from gateproof.reference.agent.wire import Answer, Outgoing
from gateproof.reference.defects.agent.row import defect

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def refreshed_at_the_service(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
    """Without metadata, the service is taken for the authorization server, with the path of an older MCP."""
    answer = operation.operate(settings, ask, given)
    tokens = State(settings.state_dir).tokens(settings.service_url)
    if answer.status == 401 and tokens is not None and "refresh_token" in tokens:
        url = discovery.metadata_url(answer.headers_named("www-authenticate"), settings.service_url)
        if ask(Outgoing(method="GET", url=url)).status == 404:
            clients = json.loads((settings.state_dir / "clients.json").read_text(encoding="utf-8"))
            client = next(iter(clients.values()))
            refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], **client}
            url = f"{settings.service_url}/token"
            ask(Outgoing(method="POST", url=url, headers=_FORM, body=urlencode(refresh).encode()))
    return answer


def asked_for_more_at_the_service() -> dict[str, Any]:
    """A 403 for scopes is answered without discovery, so no endpoint is known in a run that had no 401."""
    statuses: list[int] = []
    without: list[str] = []

    def operate(settings: Settings, ask: Ask, given: Mapping[str, str]) -> Answer:
        answer = operation.operate(settings, ask, given)
        said = " ".join(answer.headers_named("www-authenticate"))
        if answer.status == 403 and "insufficient_scope" in said and not statuses:
            without.append(settings.service_url)
            answer = replace(answer, status=401)
        statuses.append(answer.status)
        return answer

    def url(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
        own = authorization.authorization_url(endpoints, parameters)
        return f"{without[0]}/authorize?{own.partition('?')[2]}" if without else own

    return {"operate": operate, "authorization_url": url}


DEFECTS = (
    defect(
        "refreshed-at-the-service-without-metadata (AGENT-14 ROBUST-02): If the service's metadata answer "
        "404, the agent sends its refresh token and client secret to /token at the service.",
        operate=refreshed_at_the_service,
        worth_keeping=dict,
    ),
    defect(
        "asked-for-more-scopes-at-the-service (AGENT-13): If a kept token is said to lack a scope, the agent "
        "opens /authorize at the service, because it has read no document in this run.",
        **asked_for_more_at_the_service(),
    ),
)
