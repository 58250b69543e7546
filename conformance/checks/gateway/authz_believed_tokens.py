"""The gateway accepts ID tokens and userinfo of the merchant only if they are for this sign-in."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any

from gateproof.conformance.checks.gateway._openid_sign_in import OpenIdSignIn, SecondSignIn, openid_sign_in
from gateproof.conformance.kit.gateway import console
from gateproof.conformance.kit.gateway.isolated_user import new_user
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.jose import read

# More than any clock skew that may be allowed.
_LONG_PAST_S = 3600
_ANOTHER_ISSUER = "https://another-merchant.example"

# Makes the wrong claims of the next ID token from those of the last one. None: the claim is missing.
_WRONG: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "another-iss": lambda _: {"iss": _ANOTHER_ISSUER},
    "iss-of-another-tenant": lambda said: {"iss": f"{said['iss']}/another"},
    "another-aud": lambda _: {"aud": f"client-{secrets.token_hex(8)}"},
    "longer-aud": lambda said: {"aud": f"{_first(said['aud'])}-another"},
    "list-of-another-aud": lambda _: {"aud": [f"client-{secrets.token_hex(8)}"]},
    "another-nonce": lambda _: {"nonce": secrets.token_urlsafe(32)},
    "nonce-of-the-sign-in-before": lambda said: {"nonce": said.get("nonce")},
    "no-nonce": lambda _: {"nonce": None},
    "expired": lambda _: {
        "exp": int(time.time()) - _LONG_PAST_S,
        "iat": int(time.time()) - 2 * _LONG_PAST_S,
        "auth_time": int(time.time()) - 2 * _LONG_PAST_S,
    },
}

# OpenID Connect Core 3.1.3.7: a token that came from the token endpoint need not be verified, and a client
# may ignore `azp`.
_RECORDED: Mapping[str, Mapping[str, Any]] = {
    "alter_id_token_signature": {"alter_id_token_signature": True},
    "unsigned_id_token": {"unsigned_id_token": True},
    "another_azp": {"id_token": {"azp": "another-client"}},
}


@check("AUTHZ-28", cases=_WRONG)
def id_token_that_is_not_for_this_sign_in_is_not_believed(
    world: World, case: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> None:
    """An ID token with one wrong claim gives no code; the same user's right ID token gave one before.

    Left out if the gateway identifies its users by userinfo alone.
    """
    signing_in = _with_id_token(world)
    wrong = case(_last_id_token(signing_in))
    if "nonce" in wrong and not signing_in.sends_nonce:
        raise LeftOut("the gateway sends no nonce")
    second = signing_in.again(id_token=wrong)
    _require_exchange(second)
    if "nonce" in wrong and second.sent_nonce() == wrong["nonce"]:
        raise LeftOut("the gateway sends the same nonce again")
    if second.visit.codes() and second.read_userinfo():
        _require_that_id_tokens_are_read(world, signing_in, wrong)

    expect.that(
        not second.visit.codes(),
        f"sign-in with an ID token whose {next(iter(wrong))} is wrong",
        expected="no code",
        got=second.visit.outcome(),
    )


@check("AUTHZ-28", needs=["control:create_resource", "control:create_project"])
def id_token_for_another_resource_is_not_believed(world: World) -> None:
    """An ID token for the gateway's client of another Resource gives no code; the right one gave one before.

    The user has signed in at the other Resource as well. Each Resource has its own client at the merchant.
    """
    signing_in = _with_id_token(world)
    alone = signing_in.alone
    other = console.resource_in(world, alone.project, f"https://api.merchant.example/{world.unique()}")
    if other.merchant_client_id in (None, alone.client_id):
        raise LeftOut("the gateway has no other client at the merchant")
    world.grant(resource=other, user=alone.user)
    wrong = {"aud": other.merchant_client_id}
    second = signing_in.again(id_token=wrong)
    _require_exchange(second)
    if second.visit.codes() and second.read_userinfo():
        _require_that_id_tokens_are_read(world, signing_in, wrong)

    expect.that(
        not second.visit.codes(),
        "sign-in with an ID token for the client of another Resource",
        expected="no code",
        got=second.visit.outcome(),
    )


@check("AUTHZ-28")
def userinfo_of_another_user_is_not_believed(world: World) -> None:
    """If the `sub` of userinfo differs from the ID token's, the gateway does not sign in the userinfo's user.

    It may continue with the user of the ID token, or give no code.
    """
    signing_in = _with_id_token(world)
    for name, script in _RECORDED.items():
        altered = signing_in.again(**script)
        _require_exchange(altered)
        observe(**{name: "a code came" if altered.visit.codes() else "no code came"})
    if not signing_in.reads_userinfo:
        raise LeftOut("the gateway does not ask for userinfo")
    other = new_user(world, signing_in.alone.merchant)
    second = signing_in.again(userinfo=_identity(other))
    _require_exchange(second)
    believed = bool(second.visit.codes()) and second.is_about(other)
    if believed:
        _require_that_id_tokens_are_read(world, signing_in, {"iss": _ANOTHER_ISSUER})

    expect.that(
        not believed,
        "sign-in with userinfo of another user",
        expected="no code, or one for the user of the ID token",
        got="a code for the user of the userinfo",
    )


def _with_id_token(world: World) -> OpenIdSignIn:
    signing_in = openid_sign_in(world)
    if not signing_in.asks_for_id_token:
        raise LeftOut("the gateway does not ask its merchant for an ID token")
    return signing_in


def _last_id_token(signing_in: OpenIdSignIn) -> Mapping[str, Any]:
    """The claims of the user's newest ID token."""
    alone = signing_in.alone
    minted = [
        token
        for token in alone.merchant.tokens("id_token", signing_in.minted_before)
        if (token.client_id, token.login) == (alone.client_id, alone.user.login)
    ]
    parsed = read(minted[-1].value) if minted else None
    if parsed is None:
        raise LeftOut("the merchant has issued no ID token")
    return parsed.claims


def _require_exchange(second: SecondSignIn) -> None:
    """Raises LeftOut if the gateway did not fetch the wrong token: the user may still be signed in."""
    if not second.exchanged():
        raise LeftOut("the gateway did not exchange the merchant's code again")


def _require_that_id_tokens_are_read(
    world: World, signing_in: OpenIdSignIn, wrong: Mapping[str, Any]
) -> None:
    """Raises LeftOut if the same wrong claims in an ID token of another user change nothing.

    Such a gateway identifies its users by userinfo alone.
    """
    other = new_user(world, signing_in.alone.merchant)
    probe = signing_in.again(id_token={**_identity(other), **wrong})
    if probe.visit.codes() and not probe.is_about(other):
        raise LeftOut("the gateway identifies its users by userinfo alone")


def _identity(user: User) -> dict[str, str]:
    return {
        "sub": user.login,
        "preferred_username": user.login,
        "email": user.login,
        "name": user.name,
    }


def _first(audience: object) -> object:
    return audience[0] if isinstance(audience, list) and audience else audience
