"""Parties with an invalid certificate that would serve the gateway's keys."""

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
from gateproof.conformance.checks.service._failing_parties import USER, require_recovered, require_works
from gateproof.conformance.checks.service.back_keys import ASKS_WITHIN_S
from gateproof.conformance.kit.service.key_lookups import may_discover_again, note_discovery
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, count_fault
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_REFETCH_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.script import Endpoint


@check("BACK-12", needs=["faults"], cases=ASPECTS, turn=Turn.NEW_KEY)
def key_set_under_a_wrong_certificate_is_not_believed(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A token under a key that is served only with an invalid certificate shows no orders.

    If the same key is served with the right certificate, the service accepts it.
    """
    _is_not_believed(service, world, Endpoint.CORE_KEYS, case)


@check("BACK-12", needs=["faults"], cases=ASPECTS, turn=Turn.NEW_KEY)
def discovery_document_under_a_wrong_certificate_is_not_believed(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A discovery document that is served with an invalid certificate is not used, also on later fetches."""
    if Endpoint.CORE_KEYS in world.listeners.behind(Endpoint.DISCOVERY):
        raise LeftOut("discovery document and key set have one address, which another case tests")
    _left_out_if_kept(world, Endpoint.DISCOVERY)
    _is_not_believed(service, world, Endpoint.DISCOVERY, case)


def _is_not_believed(service: Service, world: ServiceWorld, endpoint: Endpoint, aspect: str) -> None:
    """Expects no request to a party with an invalid certificate; requires that the key is found later."""
    wrong, gateway = WRONG[aspect], world.gateway
    require_issued(world, wrong)
    require_works(service, world)
    others = [each for each in (Endpoint.DISCOVERY, Endpoint.CORE_KEYS) if each is not endpoint]
    added = gateway.add_core_key()
    try:
        with world.listeners.showing(endpoint, wrong.face) as visits:
            mark = gateway.journal.mark()
            token = _looked_for(service, world, endpoint, mark, visits)
            came, calls = visits(), requests_since(world, endpoint, mark)
            passed_by = bool(gateway.journal.since(mark, *others))
        _note_what_was_fetched(world, endpoint, came=bool(came), passed_by=passed_by)
        if not came:
            raise LeftOut(
                f"the service looks for a new key without asking for the {endpoint.value}"
                if passed_by
                else "the service does not look for a new key within half a minute"
            )

        count_fault(certificate_fault(endpoint, wrong), came)
        expect_no_request(world, endpoint, wrong, calls, token)
        if endpoint is Endpoint.DISCOVERY and passed_by:
            raise LeftOut("the service found the key set, and may have connected there only for a redemption")
        require_recovered(service, world, KEY_REFETCH_S)
    finally:
        # The next checks use tokens signed with the earlier key again.
        gateway.withdraw_core_key(added)


def _note_what_was_fetched(world: ServiceWorld, endpoint: Endpoint, *, came: bool, passed_by: bool) -> None:
    """Notes whether the discovery document was fetched, if the service has looked for a key at all.

    Where one address has both documents, a visit does not say which of them it was for.
    """
    if endpoint is Endpoint.CORE_KEYS and passed_by:
        note_discovery(world, again=True)
    elif endpoint is Endpoint.CORE_KEYS:
        if came and Endpoint.DISCOVERY not in world.listeners.behind(endpoint):
            note_discovery(world, again=False)
    elif passed_by and not came:
        note_discovery(world, again=False)


def _looked_for(
    service: Service, world: ServiceWorld, endpoint: Endpoint, mark: int, visits: Callable[[], int]
) -> str:
    """Calls with tokens under a new key until the service fetches keys; returns the last call's token."""
    until, pause = time.monotonic() + ASKS_WITHIN_S, 0.25
    while True:
        token = world.unseen_token(USER)
        service.serve_once(token)
        found = world.gateway.journal.since(mark, Endpoint.CORE_KEYS)
        if visits() or found or time.monotonic() > until:
            return token
        _left_out_if_kept(world, endpoint)
        wait_for(Cause.KEYS, pause)
        pause = min(2.0, 1.5 * pause)


def _left_out_if_kept(world: ServiceWorld, endpoint: Endpoint) -> None:
    """LeftOut if a lookup has shown that the service fetches the discovery document no more."""
    if endpoint is Endpoint.DISCOVERY and not may_discover_again(world):
        raise LeftOut("the service looks for a new key seldom, or without asking for the discovery document")
