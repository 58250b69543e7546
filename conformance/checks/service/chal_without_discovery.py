"""Tokens of another issuer while the service cannot fetch the discovery document, which names the issuer."""

from __future__ import annotations

import time

from gateproof.conformance.checks.service._altered_tokens import USER, good_token
from gateproof.conformance.checks.service._failing_parties import require_recovered, shows_orders
from gateproof.conformance.checks.service.back_keys import ASKS_WITHIN_S
from gateproof.conformance.kit.service.key_lookups import may_discover_again
from gateproof.conformance.kit.service.service import Service
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_REFETCH_S
from gateproof.conformance.suite.turn import Turn
from gateproof.fakes.gateway.keys import SigningKey
from gateproof.fakes.gateway.script import Answer, Endpoint

_ISSUER = "https://evil.example"


@check("CHAL-05", turn=Turn.NEW_KEY)
def token_of_another_issuer_without_discovery_shows_nothing(service: Service, world: ServiceWorld) -> None:
    """While the discovery document cannot be fetched, a token of another issuer shows no orders.

    The tokens are signed with the old core key and with a new one, which makes the service fetch the
    document. What else it answers meanwhile is open.
    """
    _left_out_if_kept(world)
    good_token(service, world)
    gateway = world.gateway
    old, added = gateway.core_key, gateway.add_core_key()
    mark = gateway.journal.mark()
    gateway.script.always(Endpoint.DISCOVERY, Answer(status=500))
    try:
        _shown_until_discovery(service, world, mark, old, added)
        _show_nothing(service, world, added, old)
        gateway.script.clear()
        require_recovered(service, world, KEY_REFETCH_S)
    finally:
        gateway.script.clear()
        # The next checks use tokens signed with the earlier key again.
        gateway.withdraw_core_key(added)


def _shown_until_discovery(
    service: Service, world: ServiceWorld, mark: int, old: SigningKey, added: SigningKey
) -> None:
    """Sends the tokens until the service has asked for the discovery document."""
    journal, until, pause = world.gateway.journal, time.monotonic() + ASKS_WITHIN_S, 0.25
    while True:
        _show_nothing(service, world, added, old)
        if journal.since(mark, Endpoint.DISCOVERY):
            return
        if journal.since(mark, Endpoint.CORE_KEYS):
            raise LeftOut("the service looks for a new key without asking for the discovery document")
        if time.monotonic() > until:
            raise LeftOut("the service looks for no new key when it meets a token under one")
        _left_out_if_kept(world)
        wait_for(Cause.KEYS, pause)
        pause = min(2.0, 1.5 * pause)


def _show_nothing(service: Service, world: ServiceWorld, *keys: SigningKey) -> None:
    for key in keys:
        answer = service.serve_once(world.gateway.token_signed_with(key, USER, iss=_ISSUER))
        expect.that(
            not shows_orders(answer, world, USER),
            "token of another issuer while the discovery document cannot be fetched",
            expected="no orders",
            got=f"{answer.outcome()} with orders",
            exchange=answer,
        )


def _left_out_if_kept(world: ServiceWorld) -> None:
    """LeftOut if a lookup has shown that the service fetches the discovery document no more."""
    if not may_discover_again(world):
        raise LeftOut("the service looks for a new key without asking for the discovery document")
