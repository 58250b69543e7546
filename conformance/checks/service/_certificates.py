"""Invalid certificates at the parties' listeners; a service must send nothing to such a party."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gateproof.conformance.checks.service._failing_parties import HOP, credentials_in
from gateproof.conformance.faults.merchant_answers import LISTENER_FAULTS, ListenerFault
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.fault import Fault, Hop
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

WRONG = {name: door for name, door in LISTENER_FAULTS.items() if door.over_tls}
# One certificate for each property that is checked first: the issuer and the host.
ASPECTS = ("unknown-authority", "certificate-of-another-host")


def require_issued(world: ServiceWorld, wrong: ListenerFault) -> None:
    """Issues the certificate with this fault; LeftOut if the harness cannot issue it."""
    if wrong.face in world.listeners.unavailable_certificates:
        raise LeftOut(
            "the certificate of the world was given by the user, so the harness cannot issue a wrong one"
        )
    world.listeners.make_bad_certificates()


def requests_since(world: ServiceWorld, endpoint: Endpoint, mark: int) -> list[Call]:
    """The requests that have arrived since `mark` at the listener of this endpoint."""
    return world.gateway.journal.since(mark, *world.listeners.behind(endpoint))


def expect_no_request(
    world: ServiceWorld, endpoint: Endpoint, wrong: ListenerFault, calls: Sequence[Call], token: str
) -> None:
    """Expects that no request arrived at this endpoint's listener while it had the invalid certificate."""
    carried = sorted({name for call in calls for name in credentials_in(call, world, token)})
    expect.that(
        not calls,
        f"party at the address of the {endpoint.value} that {wrong.fault.does}",
        expected="no request",
        got=f"{len(calls)} with {', '.join(carried) or 'no credential'}",
    )


def certificate_fault(endpoint: Endpoint, wrong: ListenerFault) -> Fault:
    """The wrong certificate, as a fault between the service and the party at this endpoint."""
    hop = HOP.get(endpoint, Hop.SERVICE_TO_GATEWAY)
    return replace(
        wrong.fault,
        name=f"{endpoint.value}, {wrong.fault.name}",
        hop=hop,
        holds="no credential sent to that party, and success once the certificate is right",
    )
