"""The life of a merchant token in the gateway's keeping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.check import check
from conformance.claims import LeftOut, expect, observe, require
from conformance.documents import strings_in
from conformance.gateway import Gateway
from conformance.parties import Grant
from conformance.seclusion import Seclusion, let_expire, redeem_past, secluded
from conformance.wire.exchange import Exchange
from conformance.wire.jose import read, verifying
from conformance.wire.secret import Secret
from conformance.world import World
from fakes.merchant.records import JournalEntry

CODE = "reauthentication_required"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105 - a name, not a token
REFRESH = "refresh_token"
# What the merchant does with the refresh token when it is used; each is its right (RFC 6749 section 6).
REFRESH_ANSWERS: Mapping[str, dict[str, bool]] = {
    "the-same-refresh-token": {},
    "no-refresh-token": {"omit_refresh_token_on_refresh": True},
    "a-new-refresh-token": {"rotate_refresh_tokens": True},
}
# Why a user has to sign in again.
LOST: Mapping[str, dict[str, Any]] = {
    "no-refresh-token": {"issue_refresh_token": False},
    "refresh-rejected": {"refresh": "reject"},
}
LONG_LIFE_S, A_WHILE_S = 36_000, 900


@check("VAULT-01", alone=True, cases=REFRESH_ANSWERS)
def expired_token_is_refreshed_again_and_again(world: World, case: dict[str, bool]) -> None:
    """Past one expiry and past the next, redemption gives a new merchant token that works."""
    alone = secluded(world)
    alone.short_lived(**case)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    token = require(world.redeem(grant, proxy_token)).status(200).member("access_token")
    for _ in range(2):
        let_expire(world)
        answer = redeem_past(world, grant, proxy_token, token)

        expect(answer).status(200)
        expect.that(
            answer.member("access_token") != token,
            "merchant token past its expiry",
            expected="a new one",
            got="the expired one",
        )
        token = expect.text(answer.member("access_token"), "access_token of the redemption")
        _works(world, alone, token)


@check("VAULT-02", alone=True)
def expired_without_a_refresh_token_answers_410(world: World) -> None:
    """A merchant token that came without a refresh token ends in 410 and the code for it.

    Another user's came with one, expired at the same time, and is refreshed.
    """
    answer, _ = _expired(world, LOST["no-refresh-token"])

    _needs_reauthentication(answer)


@check("VAULT-03", alone=True)
def rejected_refresh_answers_410(world: World) -> None:
    """A refresh token that the merchant turns down ends in 410 and the code for it."""
    answer, alone = _expired(world, LOST["refresh-rejected"])

    _needs_reauthentication(answer)
    require.that(
        any(entry.outcome == "reject" for entry in alone.asked(REFRESH)),
        "journal of the fake merchant",
        expected="a refresh that it rejected",
        got="none",
    )


@check("VAULT-03", alone=True)
def rejected_refresh_is_not_forgotten(gateway: Gateway, world: World) -> None:
    """After the 410 the expired token does not come back, however often the backend asks."""
    alone = secluded(world)
    alone.short_lived(refresh="reject")
    grant, proxy_token = alone.grant(), alone.proxy_token()
    before = require(world.redeem(grant, proxy_token)).status(200).member("access_token")
    let_expire(world)
    require(redeem_past(world, grant, proxy_token, before)).status(410)

    for _ in range(2):
        again = gateway.redeem(grant.access_token, proxy_token, grant.resource.indicator)
        expect(again).not_granted("the merchant token", "access_token")


@check("VAULT-04", alone=True, cases=LOST)
def new_authorization_mends_it(world: World, case: dict[str, Any]) -> None:
    """After the 410 the user authorizes again, and redemption gives a merchant token that works."""
    alone = secluded(world)
    alone.short_lived(**case)
    agent, proxy_token = world.agent(), alone.proxy_token()
    grant = alone.grant(agent)
    before = require(world.redeem(grant, proxy_token)).status(200, 410).member("access_token")
    let_expire(world)
    require(redeem_past(world, grant, proxy_token, before if isinstance(before, str) else None)).status(410)
    alone.script()
    renewed = alone.grant(agent)
    alone.require_outcome("ok")

    answer = world.redeem(renewed, proxy_token)

    expect(answer).status(200)
    _works(world, alone, expect.text(answer.member("access_token"), "access_token of the redemption"))


@check("VAULT-05")
def far_from_expiry_nothing_is_refreshed(world: World) -> None:
    """A merchant token with hours to live is returned as it is, time after time, and nobody is asked."""
    alone = secluded(world)
    alone.script(access_token_lifetime_s=LONG_LIFE_S)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = require(world.redeem(grant, proxy_token)).status(200)

    _returned_as_it_is(world, alone, grant, proxy_token, first)


@check("VAULT-05", needs=["control:advance_clock"])
def a_while_later_nothing_is_refreshed_either(world: World) -> None:
    """A quarter of an hour into a life of ten hours, the merchant token is still the cached one."""
    alone = secluded(world)
    alone.script(access_token_lifetime_s=LONG_LIFE_S)
    grant, proxy_token = alone.grant(), alone.proxy_token()
    first = require(world.redeem(grant, proxy_token)).status(200)
    exp = world.jwt(grant.access_token, "gateway access token").claims.get("exp")
    now = world.target_time(first)
    world.advance_clock(A_WHILE_S)
    if not isinstance(exp, int | float) or exp < now + A_WHILE_S + 60:
        raise LeftOut("the gateway access token does not live long enough for this")

    _returned_as_it_is(world, alone, grant, proxy_token, first)


@check("VAULT-08")
def assertions_verify_with_the_resources_keys(world: World) -> None:
    """Every assertion that reaches the merchant is signed with a key of the Resource's own key set."""
    alone = secluded(world)
    grant = alone.grant()
    world.redeem(grant, alone.proxy_token())
    sent = _assertions(alone, grant)
    require.that(
        bool(sent),
        "journal of the fake merchant",
        expected="an assertion from the gateway",
        got=", ".join(sorted({entry.grant or entry.endpoint for entry in alone.journal()})) or "nothing",
    )
    own = world.key_set(grant.resource.jwks_uri, "key set of the Resource")

    for kind, token in sent:
        parsed = read(token)
        header = parsed.header if parsed is not None else {}
        expect.that(
            bool(verifying(token, own)),
            f"{kind} that the gateway sent to the merchant",
            expected="a signature that verifies with the key set of the Resource",
            got=f"none of its {len(own)} keys verifies it (alg {header.get('alg')})",
        )


@check("VAULT-09", cases=("first-user", "second-user"))
def merchant_token_stands_for_the_user(world: World, case: str) -> None:
    """The merchant takes the token for the user who signed in."""
    alone = secluded(world)
    if case == "second-user":
        if len(world.users) < 2:
            raise LeftOut("the target file has one user only")
        alone = alone.beside()
    grant = alone.grant()
    token = world.merchant_token(grant, alone.proxy_token())
    known = alone.merchant.lookup(token.reveal())

    expect.that(known is not None, "merchant token", expected="one that the merchant issued", got="another")
    expect.equal(known.login if known else None, alone.user.login, "user behind the merchant token")
    _works(world, alone, token.reveal())


@check("VAULT-09")
def merchant_token_names_the_agent(world: World) -> None:
    """The merchant learns which agent acts: its client ID stands behind the token."""
    alone = secluded(world)
    grant = alone.grant()
    token = world.merchant_token(grant, alone.proxy_token())
    if not alone.asked(JWT_BEARER, TOKEN_EXCHANGE):
        raise LeftOut("the gateway gets merchant tokens by a grant in which no agent can be named")
    known = alone.merchant.lookup(token.reveal())
    actors = known.actor if known is not None else ()

    expect.that(
        any(grant.agent.client_id in actor for actor in actors),
        "agent behind the merchant token",
        expected=grant.agent.client_id,
        got=", ".join(actors) or "nobody",
    )


@check("VAULT-11")
def merchant_token_through_another_agent(gateway: Gateway, world: World) -> None:
    """Whether one agent finds the merchant token that another agent's sign-in cached is open."""
    alone = secluded(world)
    proxy_token, first = alone.proxy_token(), alone.grant()
    token = world.merchant_token(first, proxy_token)
    alone.script(provisioning="reject")
    second = alone.grant()
    answer = gateway.redeem(second.access_token, proxy_token, second.resource.indicator)

    observe(
        second_agents_status=answer.status or 0,
        second_agent_gets_the_first_ones_token=answer.member("access_token") == token.reveal(),
    )


def _expired(world: World, script: dict[str, Any]) -> tuple[Exchange, Seclusion]:
    """A redemption past the expiry under this script, while one without it is shown to be refreshed."""
    lost, twin = secluded(world), secluded(world)
    lost.short_lived(**script)
    twin.short_lived()
    agent = world.agent()
    grants = [one.grant(agent) for one in (lost, twin)]
    proxy_tokens = [one.proxy_token() for one in (lost, twin)]
    # Where the expiry counts as near from the first moment on, 410 is right before it already.
    before = [world.redeem(*pair) for pair in zip(grants, proxy_tokens, strict=True)]
    require(before[0]).status(200, 410)
    token = require(before[1]).status(200).member("access_token")
    let_expire(world)
    renewed = require(redeem_past(world, grants[1], proxy_tokens[1], token)).status(200)
    require.that(
        renewed.member("access_token") != token,
        "merchant token that can be refreshed",
        expected="a new one past the expiry",
        got="the expired one",
    )
    stale = before[0].member("access_token")
    return redeem_past(world, grants[0], proxy_tokens[0], stale if isinstance(stale, str) else None), lost


def _needs_reauthentication(answer: Exchange) -> None:
    expect(answer).status(410)
    text = answer.answer.text() if answer.answer is not None else ""
    expect.that(CODE in text, "body of the 410", expected=f"{CODE} in some field", got=text)


def _works(world: World, alone: Seclusion, token: str) -> None:
    """The merchant API takes the token, and answers with this user's orders."""
    answer = world.orders(Secret("merchant_access_token", token))
    expect(answer).status(200)
    orders = [str(order["id"]) for order in alone.merchant.orders(alone.user.login)]
    text = answer.answer.text() if answer.answer is not None else ""
    expect.that(
        all(order in text for order in orders),
        answer.step,
        expected=f"the orders of {alone.user.name}",
        got="others",
    )


def _returned_as_it_is(
    world: World, alone: Seclusion, grant: Grant, proxy_token: Secret, first: Exchange
) -> None:
    """Two more redemptions give the very token of the first, and the merchant hears of none of them."""
    heard = len(alone.journal())
    for _ in range(2):
        answer = world.redeem(grant, proxy_token)
        require(answer).status(200)
        expect.that(
            answer.member("access_token") == first.member("access_token"),
            "merchant token far from its expiry",
            expected="the cached one",
            got="another",
        )
    asked = [entry.grant or entry.endpoint for entry in alone.journal()[heard:]]
    refreshed = [entry.grant for entry in alone.asked(REFRESH)]
    expect.that(
        not asked and not refreshed,
        "journal of the fake merchant",
        expected="no request for a token that is far from its expiry",
        got=", ".join(filter(None, (*asked, *refreshed))),
    )


def _assertions(alone: Seclusion, grant: Grant) -> list[tuple[str, str]]:
    """The JWTs that the gateway sent for the Resource or the agent, whether or not they were believed.

    A request whose assertion is not believed may name no client, so the claims are asked whose it is.
    """
    named = {alone.client_id, grant.agent.client_id}
    entries = alone.merchant.journal(alone.client_id)
    if not any(_tokens(entry) for entry in entries):
        entries = alone.merchant.journal()
    return [
        (kind, token)
        for entry in entries
        for kind, token in _tokens(entry)
        if entry.client_id == alone.client_id or named & set(_claimed(token))
    ]


def _tokens(entry: JournalEntry) -> list[tuple[str, str]]:
    found = (
        ("assertion", entry.assertion),
        ("subject token", entry.subject_token),
        ("client assertion", entry.client_assertion),
    )
    return [(kind, token) for kind, token in found if token]


def _claimed(token: str) -> list[str]:
    parsed = read(token)
    return list(strings_in(dict(parsed.claims))) if parsed is not None else []
