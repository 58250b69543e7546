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


def tells_nothing(token: str, user: User, what: str) -> None:
    """The token holds no login or e-mail of the user: not in plain, not in base64, not in hex."""
    local_part = user.login.partition("@")[0]
    names = {user.login, user.login.lower()} | ({local_part} if len(local_part) > 4 else set())
    told = any(form.lower() in token.lower() for name in names for form in (name, name.encode().hex()))
    told = told or any(form in token for name in names for form in embedded(name) if len(form) > 5)
    expect.that(
        not told, what, expected="nothing that tells the user's login", got="the login, plain or encoded"
    )
