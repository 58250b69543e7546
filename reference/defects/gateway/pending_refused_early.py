"""Gateways that refuse a Pending agent before the user signs in, instead of after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.authorization import agent_standing
from gateproof.reference.gateway.records import Standing

_PAGE = b"<!doctype html><title>Pending</title><p>The operator has yet to approve the agent."


def refusing_early(is_refused: Callable[[Standing | None, Standing], bool]) -> Any:
    """Answers a valid request of such an agent with a page instead of the redirect to the merchant."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        place = asked.path.strip("/").split("/")
        if place[-2:] != ["oauth2", "auth"]:
            return answered
        resource = gateway.store.resources.get(place[-3])
        client_id = dict(parse_qsl(asked.query)).get("client_id", "")
        if resource is None or client_id not in gateway.store.agents or answered.status != 302:
            return answered
        key = resource.project_id, client_id
        before = gateway.store.standings.get(key)
        standing = agent_standing(before, gateway.store.projects[resource.project_id])
        if not is_refused(before, standing):
            return answered
        gateway.store.standings[key] = standing
        return Answered(status=403, headers=(("content-type", "text/html"),), body=_PAGE)

    return altering_answers(change)


DEFECTS = (
    defect(
        "pending-agents-turned-away (AUTHZ-07): The gateway refuses a Pending agent with 403 before the "
        "user signs in.",
        around=refusing_early(lambda _before, standing: standing == "pending"),
    ),
    defect(
        "known-pending-agents-turned-away (AUTHZ-07): The gateway refuses an agent that was Pending before "
        "with 403 before the user signs in.",
        around=refusing_early(lambda before, standing: before == standing == "pending"),
    ),
)
