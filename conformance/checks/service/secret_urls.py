"""Credentials in URLs."""

from __future__ import annotations

from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire import leaks


@check("SECRET-07")
def no_address_holds_a_token_or_secret(service: Service, world: ServiceWorld) -> None:
    """The URLs of the service's requests to gateway and merchant contain no token or secret."""
    gateway = world.gateway
    tokens = [gateway.access_token(USERS[0]) for _ in range(2)]
    for token in tokens:
        require_served(service.serve(token), gateway.orders_of(USERS[0]))
    calls = gateway.journal.since(0)
    require.that(bool(calls), "journal of the gateway", expected="calls", got="none")
    secrets = {
        "access_token": tokens,
        "proxy_token": [each.value for each in gateway.proxy_tokens],
        "proxy_client_secret": [gateway.setup.proxy_client_secret],
        "merchant_access_token": list(gateway.merchant_tokens),
    }
    canary_set = leaks.CanarySet(
        leaks.canary(kind, value) for kind, values in secrets.items() for value in values
    )
    found = {each.kind for call in calls for each in canary_set.search(call.target)}

    expect.that(
        not found,
        f"{len(calls)} URLs that the service requested",
        expected="no token or secret in them",
        got=", ".join(sorted(kind.replace("_", " ") for kind in found)),
    )
