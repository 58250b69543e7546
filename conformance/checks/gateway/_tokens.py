"""What the tokens of a grant say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.claims import beside, expect
from conformance.parties import Grant, User
from conformance.world import World
from reports.encodings import embedded


def claims_of(world: World, grant: Grant) -> Mapping[str, Any]:
    claims = world.jwt(grant.access_token, "gateway access token").claims
    beside(claims=claims)
    return claims


def ext_of(world: World, grant: Grant) -> Mapping[str, Any]:
    ext = claims_of(world, grant).get("ext")
    return ext if isinstance(ext, dict) else {}


def bound_to(claims: Mapping[str, Any], indicator: str) -> None:
    audience = claims.get("aud")
    expect.that(isinstance(audience, list), "aud", expected="an array", got=audience)
    expect.that(indicator in (audience or ()), "aud", expected=f"{indicator} in it, unchanged", got=audience)


def of_level_2(acr: object) -> None:
    good = isinstance(acr, str) and acr.endswith(":al2") and len(acr) > len(":al2")
    expect.that(good, "ext.acr", expected="a name, then :al2", got=acr)


def tells_nothing(token: str, user: User, what: str) -> None:
    """The token holds no login or e-mail of the user: not in plain, not in base64, not in hex."""
    local_part = user.login.partition("@")[0]
    names = {user.login, user.login.lower()} | ({local_part} if len(local_part) > 4 else set())
    told = any(form.lower() in token.lower() for name in names for form in (name, name.encode().hex()))
    told = told or any(form in token for name in names for form in embedded(name) if len(form) > 5)
    expect.that(
        not told, what, expected="nothing that tells the user's login", got="the login, plain or encoded"
    )
