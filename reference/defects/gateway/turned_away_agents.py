"""Gateways that look at an agent's standing before the user signs in, and go no further."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.authorization import agent_standing
from gateproof.reference.gateway.records import Standing

_PAGE = b"<!doctype html><title>Pending</title><p>The operator has yet to approve the agent."


def turned_away(is_turned_away: Callable[[Standing | None, Standing], bool]) -> Any:
    """A good request for such an agent gets a page in place of the way to the merchant."""

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
        if not is_turned_away(before, standing):
            return answered
        gateway.store.standings[key] = standing
        return Answered(status=403, headers=(("content-type", "text/html"),), body=_PAGE)

    return meddling(change)


DEFECTS = (
    defect(
        "pending-agents-turned-away (AUTHZ-07): A Pending agent is refused before the user has signed in.",
        around=turned_away(lambda _before, standing: standing == "pending"),
    ),
    defect(
        "known-pending-agents-turned-away (AUTHZ-07): An agent that was Pending before is refused before the "
        "user has signed in.",
        around=turned_away(lambda before, standing: before == standing == "pending"),
    ),
)
