"""Gateways that keep an agent's standing for the Resources that exist at a certain moment."""

from __future__ import annotations

from collections.abc import Callable

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.records import Agent, Resource, Standing
from gateproof.reference.gateway.store import Store

At = Callable[[Store, Resource, Agent, Standing], Standing]


def _ids(store: Store, project_id: str) -> frozenset[str]:
    return frozenset(each.id for each in store.resources.values() if each.project_id == project_id)


def standing_where_newer(instead: Standing) -> At:
    """At Resources that are newer than the agent's first authorization in the Project, another standing."""
    known: dict[tuple[str, str], frozenset[str]] = {}

    def at(store: Store, resource: Resource, agent: Agent, standing: Standing) -> Standing:
        place = resource.project_id, agent.id
        return standing if resource.id in known.setdefault(place, _ids(store, place[0])) else instead

    return at


def policy_copied_into_resources() -> At:
    """Resources that are newer than the first Pending agent of their Project hold no new agents."""
    holding: dict[str, frozenset[str]] = {}
    first_at: dict[str, str] = {}

    def at(store: Store, resource: Resource, agent: Agent, standing: Standing) -> Standing:
        first_at.setdefault(agent.id, resource.id)
        if standing == "pending":
            holding.setdefault(resource.project_id, _ids(store, resource.project_id))
        newer = resource.id not in holding.get(resource.project_id, frozenset({resource.id}))
        return "approved" if newer and first_at[agent.id] == resource.id else standing

    return at


DEFECTS = (
    defect(
        "newer-resources-know-no-agent (AUTHZ-01 AUTHZ-08 ROBUST-04): An agent is Pending at every Resource "
        "that is newer than its first authorization in the Project.",
        standing_at=standing_where_newer("pending"),
    ),
    defect(
        "newer-resources-hold-nobody (AUTHZ-07): A Pending agent is approved at every Resource that is newer "
        "than its first authorization in the Project.",
        standing_at=standing_where_newer("approved"),
    ),
    defect(
        "policy-copied-into-resources (AUTHZ-07): A Resource that is created in a holding Project approves "
        "new agents.",
        standing_at=policy_copied_into_resources(),
    ),
)
