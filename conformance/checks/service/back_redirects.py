"""Redirects that would send credentials to another host."""

from __future__ import annotations

from gateproof.conformance.checks.service._failing_parties import (
    USER,
    credentials_in,
    failing_token_endpoint,
    fault,
    require_recovered,
    require_works,
)
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, expect, observe, require
from gateproof.fakes.gateway.script import Answer, Endpoint

REDIRECTS = {
    f"{endpoint.value}, {status}": (endpoint, status)
    for endpoint in (Endpoint.TOKEN, Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for status in (301, 302, 303, 307, 308)
}


@check("BACK-09", cases=REDIRECTS)
def redirect_to_another_host_gets_no_credential(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, int]
) -> None:
    """If a party redirects the service to another host, the service sends no credential there."""
    endpoint, status = case
    gateway, mark, before = world.gateway, world.attacker.mark(), world.gateway.journal.mark()
    require_works(service, world)
    token = world.unseen_token(USER)
    away = Answer(status=status, headers={"location": f"{world.attacker_url}/elsewhere"})
    if endpoint is Endpoint.TOKEN:
        answer, _ = failing_token_endpoint(service, world, away, token, patiently=status == 302)
    else:
        gateway.script.always(endpoint, away)
        before = gateway.journal.mark()
        answer = service.serve_once(token)
        gateway.script.clear()
    asked = gateway.journal.since(before, endpoint)
    require.that(bool(asked), "operation", expected=f"a call of the {endpoint.value}", got="none")
    seen = world.attacker.since(mark)
    stolen = sorted({name for call in seen for name in credentials_in(call, world, token)})

    count_fault(fault(endpoint, f"redirect-{status}"), len(asked))
    observe(followed=len(seen), status=answer.status)
    expect.that(
        not stolen,
        f"another host, to which the {endpoint.value} sent the service",
        expected="no call with a credential",
        got=", ".join(stolen),
    )
    require_recovered(service, world)
    if not seen and not world.attacker_in_reach:
        raise LeftOut(
            "the other host is localhost, which is not this machine for a service that runs elsewhere"
        )
