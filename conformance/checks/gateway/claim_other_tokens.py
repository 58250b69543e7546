"""The ID token and the refresh token must not be usable as access tokens."""

from __future__ import annotations

from dataclasses import replace

from gateproof.conformance.checks.gateway._refreshed_tokens import (
    refresh_or_leave_out,
    reused_refreshed_grant,
)
from gateproof.conformance.checks.gateway._tokens import claims_of, does_not_reveal_the_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, require
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.jose import read, verifying
from gateproof.conformance.wire.secret import Secret


@check("CLAIM-09")
def id_token_is_another_jwt(world: World) -> None:
    """The ID token is not the access token itself, nor a copy of its claims."""
    grant = world.grant()
    access, identity = (read(token.reveal()) for token in (grant.access_token, grant.id_token))
    require.that(access is not None, "gateway access token", expected="a JWT", got="something else")

    expect.that(identity is not None, "ID token", expected="a JWT", got="something else")
    expect.that(
        identity is not None and access is not None and identity.claims != access.claims,
        "ID token",
        expected="claims of its own",
        got="the claims of the access token",
    )


@check("CLAIM-10")
def id_token_is_not_meant_for_the_resource(world: World) -> None:
    """The ID token's `aud` does not contain the Resource indicator."""
    _not_for_the_resource(world)


@check("CLAIM-10")
def id_token_of_a_refresh_is_not_meant_for_the_resource(world: World) -> None:
    """The `aud` of the ID token of a refresh does not contain the Resource indicator."""
    _is_not_for_the_resource(world, _with_its_id_token(reused_refreshed_grant(world)))


@check("CLAIM-10", needs=["control:rotate_keys"])
def id_token_is_not_meant_for_the_resource_after_a_rotation(world: World) -> None:
    """The ID token's `aud` does not contain the Resource indicator after a key rotation."""
    _not_for_the_resource(world)
    world.keys.rotate()

    _not_for_the_resource(world)


def _not_for_the_resource(world: World) -> None:
    _is_not_for_the_resource(world, world.grant())


def _is_not_for_the_resource(world: World, grant: Grant) -> None:
    audience = world.jwt(grant.id_token, "ID token").claims.get("aud")
    held = audience if isinstance(audience, list) else [audience]
    require.that(
        grant.resource.indicator in str(claims_of(world, grant).get("aud")),
        "aud of the access token",
        expected="the Resource indicator",
        got="not the indicator",
    )

    expect.that(
        grant.resource.indicator not in held,
        "aud of the ID token",
        expected="no Resource indicator",
        got=audience,
    )


@check("CLAIM-11")
def id_token_verifies_and_names_the_agent(world: World) -> None:
    """The ID token is signed by a core key, and its `aud` contains the client ID."""
    _verifies_and_names_the_agent(world)


@check("CLAIM-11", needs=["control:rotate_keys"])
def id_token_verifies_and_names_the_agent_after_a_rotation(world: World) -> None:
    """After a key rotation, a core key signs the ID token, and its `aud` contains the client ID."""
    _verifies_and_names_the_agent(world)
    world.keys.rotate()

    _verifies_and_names_the_agent(world)


@check("CLAIM-11")
def id_token_of_a_refresh_verifies_and_names_the_agent(world: World) -> None:
    """The ID token of a refresh is signed by a core key, and its `aud` contains the client ID."""
    _verifies_and_names_the_agent(world)

    _grant_verifies_and_names_the_agent(world, _with_its_id_token(reused_refreshed_grant(world)))


@check("CLAIM-11", needs=["control:rotate_keys"])
def id_token_of_a_refresh_after_a_rotation_verifies(world: World) -> None:
    """A refresh after a key rotation brings an ID token that the core key set verifies."""
    grant = world.grant()
    _grant_verifies_and_names_the_agent(world, grant)
    world.keys.rotate()
    fresh = _with_its_id_token(
        refresh_or_leave_out(world, grant, "a key rotation ends earlier refresh tokens")
    )
    if fresh.id_token.reveal() == grant.id_token.reveal():
        raise LeftOut("a refresh brings the first ID token again")

    _grant_verifies_and_names_the_agent(world, fresh)


def _with_its_id_token(fresh: Grant) -> Grant:
    """The refreshed grant with the ID token of the refresh in place of the first one."""
    id_token = fresh.answer.member("id_token")
    if not isinstance(id_token, str) or not id_token:
        raise LeftOut("a refresh brings no ID token")
    return replace(fresh, id_token=Secret("id_token", id_token))


def _verifies_and_names_the_agent(world: World) -> None:
    _grant_verifies_and_names_the_agent(world, world.grant())


def _grant_verifies_and_names_the_agent(world: World, grant: Grant) -> None:
    audience = world.jwt(grant.id_token, "ID token").claims.get("aud")

    expect.that(
        bool(verifying(grant.id_token.reveal(), world.keys.core_for(grant.id_token, grant.resource))),
        "ID token",
        expected="a signature that verifies with the core key set",
        got="no key verifies it",
    )
    held = audience if isinstance(audience, list) else [audience]
    expect.that(grant.agent.client_id in held, "aud of the ID token", expected="the client ID", got=audience)


@check("CLAIM-12")
def refresh_token_is_opaque(world: World) -> None:
    """The agent's refresh token is no JWT and does not reveal the user."""
    _opaque(world.grant(), "refresh token")


@check("CLAIM-12")
def refresh_token_of_a_refresh_is_opaque(world: World) -> None:
    """The refresh tokens of a first and a second refresh are no JWTs and do not reveal the user."""
    grant = world.grant()
    for what in ("refresh token of the first refresh", "refresh token of the second refresh"):
        grant = refresh_or_leave_out(world, grant, "a refresh of this token is refused")

        _opaque(grant, what)


def _opaque(grant: Grant, what: str) -> None:
    token = grant.refresh_token.reveal()
    expect.that(read(token) is None, what, expected="an opaque string", got="a JWT")
    does_not_reveal_the_user(token, grant.user, what)
