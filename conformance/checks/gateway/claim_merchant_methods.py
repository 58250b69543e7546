"""`ext.acr` and `ext.amr` if the merchant's `acr` and `amr` have other values or forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateproof.conformance.checks.gateway._openid_sign_in import openid_sign_in
from gateproof.conformance.checks.gateway._tokens import ext_of, lists_methods, of_level_2
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, Unmet

# Values of `acr` from identity providers: Keycloak sends the first two, federations their own names.
CLASSES: Mapping[str, object] = {
    "one": "1",
    "zero": "0",
    "name-of-a-federation": "urn:mace:incommon:iap:silver",
    "address": "https://refeds.org/profile/mfa",
    "lower-level": "urn:merchant:acr:al1",
    "list": ["1"],
}
# Values of `amr`; some providers send a single method without an array.
METHODS: Mapping[str, object] = {
    "text": "pwd",
    "two-in-a-text": "pwd otp",
    "number-among-them": ["pwd", 7],
    "object-among-them": [{"method": "pwd"}],
    "empty-list": [],
    "object": {"pwd": True},
}
_REFUSED = frozenset({400, 401, 403})


@check("CLAIM-05", needs=["merchant"], cases=CLASSES)
def acr_is_of_level_2_whatever_the_merchant_says(world: World, case: object) -> None:
    """`ext.acr` is of level 2 also if the merchant names a context class of its own.

    The gateway may refuse such a sign-in.
    """
    of_level_2(_ext_when_said(world, acr=case).get("acr"))


@check("CLAIM-06", needs=["merchant"], cases=METHODS)
def amr_is_an_array_of_strings_whatever_the_merchant_says(world: World, case: object) -> None:
    """`ext.amr` is an array of strings also if the merchant sends `amr` in another form.

    The gateway may refuse such a sign-in.
    """
    lists_methods(_ext_when_said(world, amr=case).get("amr"))


def _ext_when_said(world: World, **said: object) -> Mapping[str, Any]:
    """`ext` of a token for a user with these claims in the merchant's ID token and userinfo."""
    signing_in = openid_sign_in(world)
    second = signing_in.again(id_token=said, userinfo=said)
    signing_in.alone.script()
    if not second.visit.codes():
        raise LeftOut("the gateway gives no code for a user with such claims from the merchant")
    authorization = world.authorization_of(second.attempt, second.visit.codes()[0])
    try:
        return ext_of(world, world.grant_of(authorization, second.attempt))
    except Unmet as unmet:
        if unmet.exchange is None or unmet.exchange.status not in _REFUSED:
            raise
        raise LeftOut("the gateway gives no tokens for a user with such claims from the merchant") from unmet
