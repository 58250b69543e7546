"""A registration endpoint that lists agents: legal, as long as it does not show their secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import registration
from gateproof.reference.gateway.policy.registration import NewAgent, RegistrationFacts
from gateproof.reference.ids import Ids
from gateproof.reference.outcomes import JsonObject

REGISTRATION = "/api/register"
# The records that a request gets, of all those that were created; None: the request is not answered so.
Listed = Callable[[Asked, list[JsonObject]], Any]


def listing(shown: Listed, *, without: str = "") -> dict[str, Any]:
    """Keeps the answer to every registration, without the member of this name, and shows it again."""
    records: list[JsonObject] = []

    def new_agent(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        new = registration.new_agent(facts, ids, now)
        answer = registration.registration_answer(new)
        records.append({name: value for name, value in answer.items() if name != without})
        return new

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        if asked.method != "GET" or REGISTRATION not in asked.path:
            return answered
        document = shown(asked, records)
        if document is None:
            return answered
        headers = (("content-type", "application/json"), ("cache-control", "no-store"))
        return replace(answered, status=200, headers=headers, body=json.dumps(document).encode())

    return {"new_agent": new_agent, "around": altering_answers(change)}


def all_of_them(asked: Asked, records: list[JsonObject]) -> JsonObject | None:
    """The newest agents, up to the size of a page."""
    if not asked.path.endswith(REGISTRATION):
        return None
    size = 1000 if "page_size=1000" in asked.query else 20
    return {"agents": records[: -size - 1 : -1]}
