"""Resources with a token endpoint of their own are used in turn, each kind by itself."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.movable_resources import PLACES, MovableResource, MovableResources
from gateproof.conformance.suite.parties import Project, ProxyClient, Resource
from gateproof.conformance.wire.secret import Secret


def resource(number: int) -> MovableResource:
    made = Resource(
        id=f"res_{number}", project_id="prj", indicator="https://api.merchant.example", scopes=(), jwks_uri=""
    )
    client = ProxyClient(id="proxy", secret=Secret("proxy_client_secret", "s"), project_id="prj")
    project = Project(id="prj", resource=made, proxy_client=client)
    return MovableResource(project=project, listener_id=f"https://127.0.0.1:{number}/token")


def test_a_kind_has_a_few_resources_in_turn() -> None:
    movable, numbers = MovableResources(), iter(range(100))
    taken = [movable.next("a kind", lambda: resource(next(numbers))) for _ in range(2 * PLACES)]
    assert taken[:PLACES] == taken[PLACES:]
    assert len({each.listener_id for each in taken}) == PLACES
    assert movable.next("another kind", lambda: resource(next(numbers))) not in taken
