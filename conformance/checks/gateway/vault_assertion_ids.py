"""The audience and the unique IDs of the gateway's assertions to the merchant."""

from __future__ import annotations

from collections.abc import Sequence

from gateproof.conformance.checks.gateway._merchant_assertions import CLIENT_ASSERTION, Sent, assertions_sent
from gateproof.conformance.kit.gateway import concurrent
from gateproof.conformance.kit.gateway.isolated_user import IsolatedUser, isolated_user, let_expire
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.parties import Grant
from gateproof.conformance.wire.jose import verifying
from gateproof.conformance.wire.route import origin


@check("VAULT-12")
def assertions_name_this_merchant_alone(world: World) -> None:
    """The `aud` of each assertion names only the merchant that it is sent to."""
    alone = isolated_user(world)
    sent = _of_sign_ins(alone, 1)
    _observe_lifetimes(sent)
    home = origin(world.merchant_api or "")

    for each in sent:
        audience = each.claims.get("aud")
        named = audience if isinstance(audience, list) else [audience]
        foreign = [name for name in named if not _is_the_merchants(name, home, alone.resource.indicator)]
        expect.that(
            bool(named) and not foreign,
            f"aud of the {each.kind}",
            expected=f"addresses at {home} alone",
            got=audience,
        )


@check("VAULT-12")
def assertions_have_ids_of_their_own(world: World) -> None:
    """Each client assertion has a `jti`, and two sign-ins through two agents use no `jti` twice."""
    _expect_unique_ids(_of_sign_ins(isolated_user(world), 2))


@check("VAULT-12", needs=["users:2"], alone=True)
def assertions_of_refreshes_at_once_have_ids_of_their_own(world: World) -> None:
    """Two concurrent refreshes use no `jti` twice, and none of the earlier sign-ins."""
    alone = isolated_user(world)
    both = (alone, alone.beside())
    for each in both:
        each.short_lived()
    proxy_token = alone.proxy_token()
    grants = [each.grant() for each in both]
    for grant in grants:
        world.backend.require_redeemed(grant, proxy_token)
    let_expire(world)
    for answer in concurrent.redemptions(world.gateway, [(grant, proxy_token) for grant in grants]):
        world.worker_state.note(answer, in_vain=False)

    _expect_unique_ids(_all_sent(alone, grants))


def _of_sign_ins(alone: IsolatedUser, count: int) -> list[Sent]:
    """The assertions of this many sign-ins, each through its own agent and followed by a redemption."""
    proxy_token = alone.proxy_token()
    grants = []
    for _ in range(count):
        grants.append(alone.grant())
        alone.world.backend.require_redeemed(grants[-1], proxy_token)
    return _all_sent(alone, grants)


def _all_sent(alone: IsolatedUser, grants: Sequence[Grant]) -> list[Sent]:
    """The assertions that the gateway signed; a subject token may be the merchant's own token."""
    own = alone.world.keys.at(alone.resource.jwks_uri, "key set of the Resource")
    sent = [
        each
        for each in assertions_sent(alone, grants, alone.since)
        if each.kind == CLIENT_ASSERTION or verifying(each.token, own)
    ]
    if not sent:
        raise LeftOut("the gateway sends the merchant no assertion")
    return sent


def _expect_unique_ids(sent: Sequence[Sent]) -> None:
    used: dict[str, int] = {}
    for each in sent:
        jti = each.claims.get("jti")
        if each.kind == CLIENT_ASSERTION:
            expect.text(jti, "jti of the client assertion")
        if not isinstance(jti, str):
            continue
        expect.that(
            used.setdefault(jti, each.request) == each.request,
            f"jti of the {each.kind}",
            expected="one that no other request had",
            got="the same in two requests to the merchant",
        )
    if not used:
        raise LeftOut("the gateway authenticates at the merchant without a client assertion")


def _is_the_merchants(name: object, home: str, indicator: str) -> bool:
    """True for an address of the merchant, and for the indicator of its API."""
    return isinstance(name, str) and (name == indicator or origin(name) == home)


def _observe_lifetimes(sent: Sequence[Sent]) -> None:
    lives = {
        round(claims["exp"] - claims["iat"])
        for claims in (each.claims for each in sent)
        if all(isinstance(claims.get(name), int | float) for name in ("exp", "iat"))
    }
    observe(assertions_live_s=", ".join(map(str, sorted(lives))) or "not said")
