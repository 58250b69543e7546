"""Every process that serves the core key set serves the same keys."""

from __future__ import annotations

import time
from dataclasses import replace

from gateproof.conformance.checks.gateway._request_forms import with_request_form
from gateproof.conformance.checks.gateway._signatures import expect_verified
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require, rule_requires
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.suite.pauses import Cause, wait_for
from gateproof.conformance.suite.time_limits import KEY_SHOWN_S
from gateproof.conformance.wire.jose import verifying

# With two processes behind round-robin or random load balancing, so many fetches reach both.
FETCHES = 16
# Tolerance for clock differences, added to the time within which a new key must appear.
SPARE_S = 0.5


@check("KEYS-01")
def every_fetch_of_the_key_set_has_the_key(world: World) -> None:
    """Each of several fetches of the core key set has the key that signed an access token.

    Each fetch uses its own connection, so any process of the gateway may answer it. If a set lacks the key,
    all fetches are repeated after the time within which a new key must appear.
    """
    _verifies_with_every_set(world, world.grant())


@check("KEYS-01", needs=["control:rotate_keys"])
def every_fetch_of_the_key_set_has_the_new_key(world: World) -> None:
    """After a rotation, each of several fetches of the core key set has the new key."""
    world.keys.rotate()

    _verifies_with_every_set(world, world.grant())


def _verifies_with_every_set(world: World, grant: Grant) -> None:
    issued_at = time.monotonic()
    expect_verified(world, grant)
    missing = _sets_without_its_key(world, grant)
    if missing:
        wait_for(Cause.KEYS, max(0.0, issued_at + KEY_SHOWN_S + SPARE_S - time.monotonic()))
        missing = _sets_without_its_key(world, grant)

    expect.that(
        not missing,
        f"core key set, fetched {FETCHES} times over connections of their own",
        expected="a key that verifies the gateway access token, each time",
        got=f"none in {missing} of the sets",
    )


def _sets_without_its_key(world: World, grant: Grant) -> int:
    jwks_uri = require.text(world.discovery(grant.resource).get("jwks_uri"), "jwks_uri")
    apart = with_request_form(world, lambda request: replace(request, alone=True))
    with rule_requires():
        sets = [apart.keys.at(jwks_uri, "core key set") for _ in range(FETCHES)]
    return sum(not verifying(grant.access_token.reveal(), keys) for keys in sets)
