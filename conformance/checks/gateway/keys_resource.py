"""The Resources' own keys sign no gateway access token."""

from __future__ import annotations

from gateproof.conformance.checks.gateway._refreshed_tokens import (
    refresh_or_leave_out,
    reused_refreshed_grant,
)
from gateproof.conformance.checks.gateway._signatures import require_verified
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.suite.parties import Grant, Resource
from gateproof.conformance.wire.jose import verifying


@check("KEYS-02")
def access_token_does_not_verify_with_the_resources_own_keys(world: World) -> None:
    """No key of the Resource's own key set verifies an access token."""
    grant = world.grant()

    _does_not_verify(world, grant, grant.resource)


@check("KEYS-02")
def renewed_access_token_does_not_verify_with_the_resources_own_keys(world: World) -> None:
    """No key of the Resource's own key set verifies a refreshed token, if refresh is supported."""
    grant = reused_refreshed_grant(world)

    _does_not_verify(world, grant, grant.resource)


@check("KEYS-02", needs=["two-projects"])
def access_token_does_not_verify_with_the_keys_of_another_resource(world: World) -> None:
    """No key of another Resource's key set verifies an access token, in either direction."""
    resources = world.projects.home().resource, world.projects.another().resource
    grants = [world.grant(resource=resource) for resource in resources]

    for grant, other in zip(grants, reversed(resources), strict=True):
        _does_not_verify(world, grant, other)


@check("KEYS-02", needs=["control:rotate_keys"])
def access_token_of_a_new_key_does_not_verify_with_the_resources_own_keys(world: World) -> None:
    """After a key rotation, no key of the Resource's own key set verifies an access token."""
    before = world.grant()
    _does_not_verify(world, before, before.resource)
    world.keys.rotate()

    after = world.grant()
    _does_not_verify(world, after, after.resource)


@check("KEYS-02", needs=["control:rotate_keys"])
def renewed_access_token_of_a_new_key_does_not_verify_with_the_resources_own_keys(world: World) -> None:
    """After a key rotation, no key of the Resource's own key set verifies a refreshed token."""
    before = world.grant()
    world.keys.rotate()

    renewed = refresh_or_leave_out(world, before, "a refresh after a rotation gives no tokens")
    _does_not_verify(world, renewed, renewed.resource)


def _does_not_verify(world: World, grant: Grant, resource: Resource) -> None:
    own = world.keys.at(resource.jwks_uri, "key set of the Resource")

    expect.that(
        not verifying(grant.access_token.reveal(), own),
        "gateway access token",
        expected="no key of the Resource's own key set verifies it",
        got="one does",
    )
    # Positive twin: the harness can verify the signature algorithm of this token.
    require_verified(world, grant)
