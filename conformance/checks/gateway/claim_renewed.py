"""The claims of an access token that came of a refresh: it is a gateway access token like any other."""

from __future__ import annotations

from conformance.check import check
from conformance.checks.gateway._renewed import renewed
from conformance.checks.gateway._tokens import bound_to, claims_of, ext_of, of_level_2
from conformance.claims import expect, require
from conformance.world import World


@check("CLAIM-01")
def renewed_token_has_the_issuer_of_discovery(world: World) -> None:
    """`iss` is the issuer of the discovery document after a refresh, too."""
    grant = renewed(world)
    issuer = require.text(world.discovery(grant.resource).get("issuer"), "issuer in the discovery document")

    expect.equal(claims_of(world, grant).get("iss"), issuer, "iss after a refresh")


@check("CLAIM-02")
def renewed_token_is_bound_to_the_resource(world: World) -> None:
    """`aud` is an array with the Resource indicator after a refresh, too."""
    grant = renewed(world)

    bound_to(claims_of(world, grant), grant.resource.indicator)


@check("CLAIM-05")
def renewed_token_has_an_acr_of_level_2(world: World) -> None:
    """`ext.acr` is of assurance level 2 after a refresh, too."""
    of_level_2(ext_of(world, renewed(world)).get("acr"))


@check("CLAIM-08")
def renewed_token_names_the_project(world: World) -> None:
    """`ext.project_id` is the Project of the Resource after a refresh, too."""
    grant = renewed(world)

    expect.equal(ext_of(world, grant).get("project_id"), grant.resource.project_id, "ext.project_id")
