"""The core key set for clients with `Accept: */*` or without an Accept header."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._request_forms import ACCEPTS, Form, with_request_form
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire.jose import keys_of


@check("KEYS-01", cases=ACCEPTS)
def jwks_uri_serves_whoever_asks_for_no_media_type(world: World, case: Form) -> None:
    """jwks_uri serves its keys also to clients with `Accept: */*` or without an Accept header."""
    resource = world.projects.home().resource
    jwks_uri = require.text(world.discovery(resource).get("jwks_uri"), "jwks_uri")
    world.keys.core(resource)

    answer = with_request_form(world, case).gateway.fetch(world.gateway.reachable(jwks_uri), "core key set")

    expect(answer).status(200)
    expect.that(bool(keys_of(answer.json())), "core key set", expected="a `keys` array of JWKs", got="no key")
