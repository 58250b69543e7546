"""Discovery requests with `Accept: */*`, or without Accept."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._request_forms import ACCEPTS, Form, with_request_form
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, require


@check("DISC-01", cases=ACCEPTS)
def answers_whoever_asks_for_no_media_type(world: World, case: Form) -> None:
    """The discovery document is served also with `Accept: */*`, or without Accept."""
    resource = world.projects.home().resource
    require.text(world.discovery(resource).get("issuer"), "issuer in the discovery document")

    answer = with_request_form(world, case).gateway.discovery(resource)

    expect(answer).status(200)
    expect(answer).json_object()
