"""Parties that do not prove who they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from conformance.check import check
from conformance.checks.service._trouble import (
    ASKS_WITHIN_S,
    FOUND_WITHIN_S,
    HOP,
    USER,
    credentials_in,
    settles,
    works,
)
from conformance.claims import LeftOut, expect, fired, require
from conformance.faults.fault import Fault, Hop
from conformance.faults.merchant_answers import DOORS, DoorFault
from conformance.run.service_world import ServiceWorld
from conformance.service import Service
from conformance.wire.exchange import Exchange
from fakes.gateway.script import Endpoint

WRONG = {name: door for name, door in DOORS.items() if door.over_tls}
# One for each thing that is looked at first in a certificate: where it comes from, and for whom it is.
ASPECTS = ("unknown-authority", "certificate-of-another-host")
CASES = {
    f"{endpoint.value}, {name}": (endpoint, door)
    for endpoint in (Endpoint.REDEMPTION, Endpoint.MERCHANT_API)
    for name, door in WRONG.items()
}
# A connection that was dropped may cost the first call.
_TRIES = 3


@check("BACK-12", needs=["faults"], cases=CASES)
def party_with_a_wrong_certificate_is_asked_nothing(
    service: Service, world: ServiceWorld, case: tuple[Endpoint, DoorFault]
) -> None:
    """Whoever stands at the address of a party and does not prove to be it gets no request.

    What the service asks there has a credential in it. Before and afterwards the same call works.
    """
    endpoint, wrong = case
    _testable(world, endpoint, wrong)
    works(service, world)
    token, mark = world.unseen_token(USER), world.gateway.journal.mark()
    with world.doors.showing(endpoint, wrong.face) as visits:
        _until_visited(lambda: service.serve_once(token), visits, _TRIES)
        came = visits()

    require.that(came > 0, "operation of a user who is new", expected="a connection", got="none")
    fired(_fault(endpoint, wrong), came)
    _asked_nothing(world, endpoint, wrong, mark, token)
    settles(service, world)


@check("BACK-12", needs=["faults"], cases=ASPECTS)
def token_endpoint_with_a_wrong_certificate_is_asked_nothing(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """The same where the Proxy client's secret would go, once the old Proxy token is taken no more."""
    wrong, gateway, until = WRONG[case], world.gateway, time.monotonic() + ASKS_WITHIN_S
    _testable(world, Endpoint.TOKEN, wrong)
    works(service, world)
    token, mark = world.unseen_token(USER), gateway.journal.mark()
    with world.doors.showing(Endpoint.TOKEN, wrong.face) as visits:
        gateway.revoke_proxy_tokens()
        service.serve_once(token)
        while not (came := visits()) and time.monotonic() < until:
            time.sleep(0.5)
            service.serve_once(token)
    if not came:
        gateway.revive_proxy_tokens()
        raise LeftOut("the service asks for no other Proxy token before the time of the old one is over")

    fired(_fault(Endpoint.TOKEN, wrong), came)
    _asked_nothing(world, Endpoint.TOKEN, wrong, mark, token)
    settles(service, world)


@check("BACK-12", needs=["faults"], cases=ASPECTS)
def key_set_under_a_wrong_certificate_is_not_believed(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A key that is published by somebody who does not prove to be the gateway opens nothing.

    Published under the right certificate, the same key does.
    """
    wrong, gateway, until = WRONG[case], world.gateway, time.monotonic() + ASKS_WITHIN_S
    _issued(world, wrong)
    works(service, world)
    mark, added = gateway.journal.mark(), gateway.add_core_key()
    try:
        with world.doors.showing(Endpoint.CORE_KEYS, wrong.face) as visits:
            token = world.unseen_token(USER)
            service.serve_once(token)
            while not (came := visits()) and time.monotonic() < until:
                time.sleep(0.5)
                service.serve_once(token)
        if not came:
            raise LeftOut("the service does not look for a new key within a few seconds")

        fired(_fault(Endpoint.CORE_KEYS, wrong), came)
        _asked_nothing(world, Endpoint.CORE_KEYS, wrong, mark, token)
        settles(service, world, FOUND_WITHIN_S)
    finally:
        # The checks that come next have another question: their tokens are signed as before.
        gateway.withdraw_core_key(added)


def _testable(world: ServiceWorld, endpoint: Endpoint, wrong: DoorFault) -> None:
    if not world.doors.apart(endpoint):
        raise LeftOut("gateway and merchant have one address: whoever goes there is asked for a redemption")
    _issued(world, wrong)


def _issued(world: ServiceWorld, wrong: DoorFault) -> None:
    if wrong.face in world.doors.unissued:
        raise LeftOut("the certificate of the world was given, and its authority issues no wrong one")


def _until_visited(ask: Callable[[], Exchange], visits: Callable[[], int], tries: int) -> None:
    for _ in range(tries):
        ask()
        if visits():
            return


def _asked_nothing(world: ServiceWorld, endpoint: Endpoint, wrong: DoorFault, mark: int, token: str) -> None:
    calls = world.gateway.journal.since(mark, *world.doors.behind(endpoint))
    carried = sorted({name for call in calls for name in credentials_in(call, world, token)})
    expect.that(
        not calls,
        f"party at the address of the {endpoint.value} that {wrong.fault.does}",
        expected="no request",
        got=f"{len(calls)} with {', '.join(carried) or 'no credential'}",
    )


def _fault(endpoint: Endpoint, wrong: DoorFault) -> Fault:
    hop = HOP.get(endpoint, Hop.SERVICE_TO_GATEWAY)
    return replace(
        wrong.fault,
        name=f"{endpoint.value}, {wrong.fault.name}",
        hop=hop,
        holds="no credential for whoever it is, and all is well once the certificate is",
    )
