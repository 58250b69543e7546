"""Agents that request the scope that a token answer granted, in place of the one that they need."""

from __future__ import annotations

import json
from typing import Any

from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.operation import Ask, Tokens
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.policy.renewal import refreshed
from gateproof.reference.agent.settings import Settings
from gateproof.reference.defects.agent.row import defect
from gateproof.reference.defects.agent.stored_state import state_file


def asking_for_what_was_granted(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
    """Requests the `scope` of the stored tokens, if there are any."""
    whole, kept = authorization.authorization_parameters(settings, client, attempt), state_file("tokens.json")
    tokens = json.loads(kept.read_text()).get(settings.service_url, {}) if kept.exists() else {}
    return whole | ({"scope": tokens["scope"]} if tokens.get("scope") else {})


def asking_for_it_after_a_refresh() -> dict[str, Any]:
    """Requests the granted scope only in a run in which a refresh has failed."""
    failed: list[bool] = []

    def renewed(ask: Ask, endpoints: Endpoints, client: Client, kept: Tokens) -> dict[str, Any] | None:
        tokens = refreshed(ask, endpoints, client, kept)
        failed[:] = [True] if tokens is None else []
        return tokens

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        usual = asking_for_what_was_granted if failed else authorization.authorization_parameters
        return usual(settings, client, attempt)

    return {"renewed": renewed, "authorization_parameters": parameters}


DEFECTS = (
    defect(
        "granted-scope-requested-later (AGENT-03): The agent stores the scope of the token response, and "
        "later requests exactly that.",
        authorization_parameters=asking_for_what_was_granted,
        worth_keeping=dict,
    ),
    defect(
        "granted-scope-requested-when-a-refresh-fails (AGENT-03): After a failed refresh, the agent requests "
        "exactly the scope of its stored tokens.",
        worth_keeping=dict,
        **asking_for_it_after_a_refresh(),
    ),
)
