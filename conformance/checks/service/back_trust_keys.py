"""Parties that do not prove who they are, where the gateway's keys would come from."""

from __future__ import annotations

import time
from collections.abc import Callable

from gateproof.conformance.checks.service._certificates import (
    ASPECTS,
    WRONG,
    asked_nothing,
    asked_there,
    issued,
    shown,
)
from gateproof.conformance.checks.service._trouble import FOUND_WITHIN_S, USER, settles, works
from gateproof.conformance.checks.service.back_keys import ASKS_WITHIN_S
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault
from gateproof.fakes.gateway.script import Endpoint


@check("BACK-12", needs=["faults"], cases=ASPECTS)
def key_set_under_a_wrong_certificate_is_not_believed(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A key that is published by somebody who does not prove to be the gateway opens nothing.

    Published under the right certificate, the same key does.
    """
    _is_not_believed(service, world, Endpoint.CORE_KEYS, case)


@check("BACK-12", needs=["faults"], cases=ASPECTS)
def discovery_document_under_a_wrong_certificate_is_not_believed(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """Whoever says where the keys are proves to be the gateway, too, also when it is asked again."""
    if Endpoint.CORE_KEYS in world.doors.behind(Endpoint.DISCOVERY):
        raise LeftOut("discovery document and key set have one address, at which another case stands")
    if not world.standing.discovers_again:
        raise LeftOut("the service looks for a new key seldom, or without asking for the discovery document")
    _is_not_believed(service, world, Endpoint.DISCOVERY, case)


def _is_not_believed(service: Service, world: ServiceWorld, endpoint: Endpoint, aspect: str) -> None:
    """Who looks for a new key asks nothing of a stranger on the way, and finds it once all is well."""
    wrong, gateway = WRONG[aspect], world.gateway
    issued(world, wrong)
    works(service, world)
    others = [each for each in (Endpoint.DISCOVERY, Endpoint.CORE_KEYS) if each is not endpoint]
    added = gateway.add_core_key()
    try:
        with world.doors.showing(endpoint, wrong.face) as visits:
            mark = gateway.journal.mark()
            token = _looked_for(service, world, mark, visits)
            came, calls = visits(), asked_there(world, endpoint, mark)
            passed_by = bool(gateway.journal.since(mark, *others))
        if endpoint is Endpoint.CORE_KEYS:
            world.standing.discovers_again = passed_by
        if not came:
            raise LeftOut(
                f"the service looks for a new key without asking for the {endpoint.value}"
                if passed_by
                else "the service does not look for a new key within half a minute"
            )

        count_fault(shown(endpoint, wrong), came)
        asked_nothing(world, endpoint, wrong, calls, token)
        if endpoint is Endpoint.DISCOVERY and passed_by:
            raise LeftOut(
                "the service found the key set, and may have come to that door for a redemption alone"
            )
        settles(service, world, FOUND_WITHIN_S)
    finally:
        # The checks that come next have another question: their tokens are signed as before.
        gateway.withdraw_core_key(added)


def _looked_for(service: Service, world: ServiceWorld, mark: int, visits: Callable[[], int]) -> str:
    """Calls with tokens under a new key until somebody is asked for it; gives the last of them."""
    until, pause = time.monotonic() + ASKS_WITHIN_S, 0.25
    while True:
        token = world.unseen_token(USER)
        service.serve_once(token)
        found = world.gateway.journal.since(mark, Endpoint.CORE_KEYS)
        if visits() or found or time.monotonic() > until:
            return token
        time.sleep(pause)
        pause = min(2.0, 1.5 * pause)
