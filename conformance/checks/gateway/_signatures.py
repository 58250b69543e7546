"""The claim that a gateway access token verifies with the core key set."""

from __future__ import annotations

from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.claims import Verb, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.jose import verifying


def expect_verified(world: World, grant: Grant) -> None:
    """Expects that a key of the core key set verifies the grant's access token."""
    _verified(world, grant, expect)


def require_verified(world: World, grant: Grant) -> None:
    """Requires that a key of the core key set verifies the grant's access token."""
    _verified(world, grant, require)


def _verified(world: World, grant: Grant, verb: Verb) -> None:
    keys = world.keys.core_for(grant.access_token, grant.resource)
    header = world.jwt(grant.access_token, "gateway access token").header
    verb.that(
        bool(verifying(grant.access_token.reveal(), keys)),
        "gateway access token",
        expected=f"a signature that verifies with one of the {len(keys)} keys of the core key set",
        got=f"none of them verifies it (alg {header.get('alg')})",
    )
