"""Wrong certificates at the doors of the world, and what may reach whoever shows one: nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateproof.conformance.checks.service._failing_parties import HOP, credentials_in
from gateproof.conformance.faults.merchant_answers import DOORS, DoorFault
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.fault import Fault, Hop
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

WRONG = {name: door for name, door in DOORS.items() if door.over_tls}
# One for each thing that is looked at first in a certificate: where it comes from, and for whom it is.
ASPECTS = ("unknown-authority", "certificate-of-another-host")


def issued(world: ServiceWorld, wrong: DoorFault) -> None:
    """The harness has a certificate that is wrong like this, and has made it."""
    if wrong.face in world.doors.unissued:
        raise LeftOut("the certificate of the world was given, and its authority issues no wrong one")
    world.doors.make_faces()


def asked_there(world: ServiceWorld, endpoint: Endpoint, mark: int) -> list[Call]:
    """The requests that have come since to the door of this endpoint."""
    return world.gateway.journal.since(mark, *world.doors.behind(endpoint))


def asked_nothing(
    world: ServiceWorld, endpoint: Endpoint, wrong: DoorFault, calls: Sequence[Call], token: str
) -> None:
    """No request came to the door of this endpoint while somebody else stood there."""
    carried = sorted({name for call in calls for name in credentials_in(call, world, token)})
    expect.that(
        not calls,
        f"party at the address of the {endpoint.value} that {wrong.fault.does}",
        expected="no request",
        got=f"{len(calls)} with {', '.join(carried) or 'no credential'}",
    )


def shown(endpoint: Endpoint, wrong: DoorFault) -> Fault:
    """The wrong certificate as a fault between the service and the party at this endpoint."""
    hop = HOP.get(endpoint, Hop.SERVICE_TO_GATEWAY)
    return replace(
        wrong.fault,
        name=f"{endpoint.value}, {wrong.fault.name}",
        hop=hop,
        holds="no credential for whoever it is, and all is well once the certificate is",
    )
