"""Parties with an invalid certificate that would receive a credential."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.checks.service._certificates import (
    ASPECTS,
    WRONG,
    certificate_fault,
    expect_no_request,
    requests_since,
    require_issued,
)
from gateproof.conformance.checks.service._failing_parties import (
    USER,
    asks_within_s,
    require_recovered,
    require_works,
)
from gateproof.conformance.faults.merchant_answers import ListenerFault
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault, require
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.wire.exchange import Exchange
from gateproof.fakes.gateway.script import Endpoint

CASES = {
    f"{endpoint.value}, {name}": (endpoint, door)
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for name, door in WRONG.items()
}
# The first call may fail on a connection that was closed.
_TRIES = 3


@check("BACK-12", needs=["faults"], cases=CASES)
def party_with_a_wrong_certificate_is_asked_nothing(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, ListenerFault]
) -> None:
    """The service sends no request to a party that shows an invalid certificate.

    The request would contain a credential. The same call works before and afterwards.
    """
    endpoint, wrong = case
    _testable(world, endpoint, wrong)
    require_works(service, world)
    token = world.unseen_token(USER)
    with world.listeners.showing(endpoint, wrong.face) as visits:
        mark = world.gateway.journal.mark()
        _until_visited(lambda: service.serve_once(token), visits, _TRIES)
        came, calls = visits(), requests_since(world, endpoint, mark)

    require.that(came > 0, "operation of a user who is new", expected="a connection", got="none")
    count_fault(certificate_fault(endpoint, wrong), came)
    expect_no_request(world, endpoint, wrong, calls, token)
    require_recovered(service, world)


@check("BACK-12", needs=["faults"], cases=ASPECTS)
def token_endpoint_with_a_wrong_certificate_is_asked_nothing(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """The service requests no Proxy token from a token endpoint with an invalid certificate.

    The request would contain the Proxy client's secret. It is due because the old Proxy token is refused.
    """
    wrong, gateway = WRONG[case], world.gateway
    _testable(world, Endpoint.TOKEN, wrong)
    require_works(service, world)
    if _asks_for_keys(service, world):
        raise LeftOut("the service fetches the key set with every call, from the same listener")
    until = time.monotonic() + asks_within_s(world, patiently=case == ASPECTS[0])
    token = world.unseen_token(USER)
    with world.listeners.showing(Endpoint.TOKEN, wrong.face) as visits:
        mark = gateway.journal.mark()
        gateway.revoke_proxy_tokens()
        service.serve_once(token)
        while not (came := visits()) and time.monotonic() < until:
            wait_for(Cause.REQUEST, 0.5)
            service.serve_once(token)
        calls = requests_since(world, Endpoint.TOKEN, mark)
    if not came:
        gateway.revive_proxy_tokens()
        raise LeftOut("the service requests no other Proxy token before the old one expires")

    count_fault(certificate_fault(Endpoint.TOKEN, wrong), came)
    expect_no_request(world, Endpoint.TOKEN, wrong, calls, token)
    require_recovered(service, world)


def _testable(world: ServiceWorld, endpoint: Endpoint, wrong: ListenerFault) -> None:
    if not world.listeners.apart(endpoint):
        raise LeftOut("gateway and merchant have one address, so a connection there may be for a redemption")
    require_issued(world, wrong)


def _asks_for_keys(service: Service, world: ServiceWorld) -> bool:
    """True if the second of two calls in a row fetches the key set again."""
    mark = world.gateway.journal.mark()
    require_works(service, world)
    return bool(world.gateway.journal.since(mark, Endpoint.CORE_KEYS))


def _until_visited(ask: Callable[[], Exchange], visits: Callable[[], int], tries: int) -> None:
    for _ in range(tries):
        ask()
        if visits():
            return
